// Exercises: fmin and fmax of doubles, fdim
// Input: stdin; seed: 41*16
// Solution: 00*6 1440 00*6 1840
#include "capability.h"

#include <math.h>

int main(void) {
  double x[2] = {0};
  take(x, sizeof x);
  if (fmin(x[0], x[1]) == 5.0 && fmax(x[0], x[1]) == 6.0 && fdim(x[1], x[0]) == 1.0)
    hit();
  return tell(x[0] < x[1]);
}
