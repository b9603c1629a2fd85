// Exercises: a weighted sum of bytes in floating point
// Input: stdin; seed: 41*3
// Solution: 646464
#include "capability.h"

int main(void) {
  uint8_t d[3] = {0};
  take(d, sizeof d);
  float grey = 0.25f * d[0] + 0.5f * d[1] + 0.25f * d[2];
  if (grey == 100.0f && d[0] == d[2])
    hit();
  return tell((unsigned)grey);
}
