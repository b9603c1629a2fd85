// Exercises: the exponent of a double, taken from its bits
// Input: stdin; seed: 41*8
// Solution: 00*6 2041
#include "capability.h"

int main(void) {
  double x = 0;
  take(&x, sizeof x);
  double y = x * 8.0;
  if ((load64(&y) >> 52 & 0x7ff) == 1023 + 22 && x < 524289.0)
    hit();
  return tell(load64(&y) >> 60);
}
