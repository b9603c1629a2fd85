// Exercises: order of floats within a narrow range
// Input: stdin; seed: 41*4
// Solution: 00107ac4
#include "capability.h"

int main(void) {
  float x = 0;
  take(&x, sizeof x);
  if (x < -1000.0f && x > -1000.5f)
    hit();
  return tell(x > 1.0f);
}
