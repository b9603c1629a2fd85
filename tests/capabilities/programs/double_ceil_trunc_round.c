// Exercises: ceil, trunc, round, rint, nearbyint
// Input: stdin; seed: 41*8
// Solution: 00*6 25c0
#include "capability.h"

#include <math.h>

int main(void) {
  double x = 0;
  take(&x, sizeof x);
  if (ceil(x) == -10.0 && trunc(x) == -10.0 && round(x) == -11.0 && rint(x) == -10.0 &&
      nearbyint(x) == -10.0)
    hit();
  return tell(x > 1.0);
}
