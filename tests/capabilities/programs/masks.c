// Exercises: and, or, not with masks
// Input: stdin; seed: 41*4
// Solution: 42dec000
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d), y = (x & 0x00ffff00) | (~x & 0xff0000ff);
  if (y == 0xffc0debd)
    hit();
  return tell(y);
}
