// Exercises: complex numbers of floats, conjugate and absolute value
// Input: stdin; seed: 41*8
// Solution: 0000404000008040
#include "capability.h"

#include <complex.h>

int main(void) {
  float d[2] = {0};
  take(d, sizeof d);
  float complex z = conjf(d[0] + d[1] * I) * 2.0f;
  if (crealf(z) == 6.0f && cimagf(z) == -8.0f)
    hit();
  return tell(crealf(z) > 0);
}
