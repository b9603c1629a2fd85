// Exercises: hypot and cbrt
// Input: stdin; seed: 41*16
// Solution: 00*6 0840 00*6 1040
#include "capability.h"

#include <math.h>

int main(void) {
  double x[2] = {0};
  take(x, sizeof x);
  if (hypot(x[0], x[1]) == 5.0 && cbrt(x[0] * 9.0) > 2.99 && cbrt(x[0] * 9.0) < 3.01 && x[1] > 0)
    hit();
  return tell(x[0] > 1.0);
}
