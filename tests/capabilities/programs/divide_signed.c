// Exercises: signed division and remainder by a constant
// Input: stdin; seed: 41*4
// Solution: ba70aeff
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  int32_t x = (int32_t)load32(d);
  if (x / 1237 == -4321 && x % 1237 == -17)
    hit();
  return tell((uint32_t)(x / 1237));
}
