// Exercises: strtoull of octal digits
// Input: stdin; seed: 41*6
// Solution: 373535363434
#include "capability.h"

int main(void) {
  char d[7];
  take_text(d, sizeof d);
  unsigned long long x = strtoull(d, NULL, 8);
  if (x == 0755644)
    hit();
  return tell(x);
}
