// Exercises: sin, cos and atan2
// Input: stdin; seed: 41*16
// Solution: 000000000000e03f000000000000f03f
#include "capability.h"

#include <math.h>

int main(void) {
  double x[2] = {0};
  take(x, sizeof x);
  if (x[0] > 0 && sin(x[0]) > 0.479 && sin(x[0]) < 0.480 && cos(x[0]) > 0.8 &&
      atan2(x[1], x[0]) > 1.1)
    hit();
  return tell(x[0] > 1.0);
}
