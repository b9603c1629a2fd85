// Exercises: strtod
// Input: stdin; seed: 41*6
// Solution: 2d31322e3735
#include "capability.h"

int main(void) {
  char d[7];
  take_text(d, sizeof d);
  double x = strtod(d, NULL);
  if (x == -12.75)
    hit();
  return tell(x > 1.0);
}
