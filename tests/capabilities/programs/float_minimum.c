// Exercises: fminf and fmaxf
// Input: stdin; seed: 41*8
// Solution: 0000f04000001041
#include "capability.h"

#include <math.h>

int main(void) {
  float x[2] = {0};
  take(x, sizeof x);
  if (fminf(x[0], x[1]) == 7.5f && fmaxf(x[0], x[1]) == 9.0f)
    hit();
  return tell(x[0] < x[1]);
}
