// Exercises: square root of a float
// Input: stdin; seed: 41*4
// Solution: 0000a141
#include "capability.h"

#include <math.h>

int main(void) {
  float x = 0;
  take(&x, sizeof x);
  if (sqrtf(x) > 4.48f && sqrtf(x) < 4.49f)
    hit();
  return tell(x > 1.0f);
}
