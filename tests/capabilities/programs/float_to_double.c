// Exercises: widening of a float
// Input: stdin; seed: 41*4
// Solution: cdcccc3d
#include "capability.h"

int main(void) {
  float x = 0;
  take(&x, sizeof x);
  double y = (double)x;
  if (y > 0.1 && y < 0.10000000149011613)
    hit();
  return tell(y > 1.0);
}
