// Exercises: signed order
// Input: stdin; seed: 41*4
// Solution: bebdf0ff
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  int32_t x = (int32_t)load32(d);
  if (x < -1000000 && x > -1000004)
    hit();
  return tell((uint32_t)x);
}
