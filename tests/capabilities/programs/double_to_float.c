// Exercises: narrowing of a double, which rounds
// Input: stdin; seed: 41*8
// Solution: 0000001000007041
#include "capability.h"

int main(void) {
  double x = 0;
  take(&x, sizeof x);
  float y = (float)x;
  if (y == 16777216.0f && x > 16777216.0)
    hit();
  return tell(x > 1.0);
}
