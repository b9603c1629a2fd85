// Exercises: isinf, isnan, isnormal, signbit and a subnormal number
// Input: stdin; seed: 41*24
// Solution: 00*6 f0ff 01 00*7 00*6 f87f
#include "capability.h"

#include <math.h>

int main(void) {
  double x[3] = {0};
  take(x, sizeof x);
  if (isinf(x[0]) && signbit(x[0]) && !isnormal(x[1]) && x[1] > 0 && isfinite(x[1]) && isnan(x[2]))
    hit();
  return tell(x[0] > 1.0);
}
