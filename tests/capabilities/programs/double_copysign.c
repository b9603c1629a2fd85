// Exercises: copysign and fabs
// Input: stdin; seed: 41*16
// Solution: 00*6 f4bf 00*6 1040
#include "capability.h"

#include <math.h>

int main(void) {
  double x[2] = {0};
  take(x, sizeof x);
  if (copysign(x[0], x[1]) == 1.25 && copysign(x[1], x[0]) == -4.0 && fabs(x[0]) == 1.25)
    hit();
  return tell(x[0] > 1.0);
}
