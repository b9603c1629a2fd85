// Exercises: a zero whose reciprocal is negative
// Input: stdin; seed: 41*8
// Solution: 00*7 80
#include "capability.h"

int main(void) {
  double x = 1;
  take(&x, sizeof x);
  if (x == 0 && 1 / x < 0)
    hit();
  return tell(x > 1.0);
}
