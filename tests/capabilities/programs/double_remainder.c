// Exercises: fmod and remainder
// Input: stdin; seed: 41*8
// Solution: 00*6 1d40
#include "capability.h"

#include <math.h>

int main(void) {
  double x = 0;
  take(&x, sizeof x);
  if (x > 7 && x < 8 && fmod(x, 2.0) == 1.25 && remainder(x, 2.0) == -0.75)
    hit();
  return tell(x > 1.0);
}
