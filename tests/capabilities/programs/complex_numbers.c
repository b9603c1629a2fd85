// Exercises: complex arithmetic
// Input: stdin; seed: 41*4
// Solution: 2c012800
#include "capability.h"

#include <complex.h>

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  double complex z = (double)load16(d) + (double)load16(d + 2) * I;
  z = z * z;
  if (creal(z) == 300.0 * 300 - 1600 && cimag(z) == 24000.0)
    hit();
  return tell(creal(z) > 0);
}
