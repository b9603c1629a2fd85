// Exercises: floor and fabs
// Input: stdin; seed: 41*8
// Solution: 00*4 8061bec0
#include "capability.h"

#include <math.h>

int main(void) {
  double x = 0;
  take(&x, sizeof x);
  if (fabs(x) == 7777.5 && floor(x) == -7778.0)
    hit();
  return tell(x > 1.0);
}
