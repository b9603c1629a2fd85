// Exercises: a rotate of 32 bits by a constant
// Input: stdin; seed: 41*4
// Solution: ff8101dd
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d);
  x = x << 7 | x >> 25;
  if (x == 0x80c0ffee)
    hit();
  return tell(x);
}
