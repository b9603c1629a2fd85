// Exercises: division of floats, both of the input
// Input: stdin; seed: 41*8
// Solution: 0000404000000040
#include "capability.h"

int main(void) {
  float x[2] = {0};
  take(x, sizeof x);
  if (x[0] / x[1] == 1.5f && x[1] == 2.0f)
    hit();
  return tell(x[0] > 1.0f);
}
