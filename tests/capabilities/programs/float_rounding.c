// Exercises: floorf, ceilf, truncf and roundf
// Input: stdin; seed: 41*4
// Solution: 000090c0
#include "capability.h"

#include <math.h>

int main(void) {
  float x = 0;
  take(&x, sizeof x);
  if (floorf(x) == -5.0f && ceilf(x) == -4.0f && truncf(x) == -4.0f && roundf(x) == -5.0f)
    hit();
  return tell(x > 1.0f);
}
