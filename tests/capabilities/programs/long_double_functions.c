// Exercises: floorl, fabsl and sqrtl
// Input: stdin; seed: 41*10
// Solution: 00*7 c902c0
#include "capability.h"

#include <math.h>

int main(void) {
  long double x = 0;
  take(&x, 10);
  if (floorl(x) == -13.0L && fabsl(x) == 12.5625L && sqrtl(-x) > 3.5L)
    hit();
  return tell(x > 1.0L);
}
