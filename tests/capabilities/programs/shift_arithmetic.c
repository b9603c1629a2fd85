// Exercises: an arithmetic shift to the right
// Input: stdin; seed: 41*4
// Solution: 00e8ffff
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  int32_t x = (int32_t)load32(d) >> 11;
  if (x == -3)
    hit();
  return tell((uint32_t)x);
}
