// Exercises: strtold
// Input: stdin; seed: 41*8
// Solution: 3130302e3337352c
#include "capability.h"

int main(void) {
  char d[9], *end;
  take_text(d, sizeof d);
  long double x = strtold(d, &end);
  if (x == 100.375L && *end == ',')
    hit();
  return tell(x > 1.0L);
}
