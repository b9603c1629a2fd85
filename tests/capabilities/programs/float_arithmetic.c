// Exercises: product and sum of floats
// Input: stdin; seed: 41*8
// Solution: 0000c03f0000c041
#include "capability.h"

int main(void) {
  float x[2] = {0};
  take(x, sizeof x);
  float y = x[0] * x[1] + 0.5f;
  if (y == 36.5f && x[0] == 1.5f)
    hit();
  return tell(y > 0);
}
