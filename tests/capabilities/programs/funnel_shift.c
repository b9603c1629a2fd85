// Exercises: a double shift of two values (fshl)
// Input: stdin; seed: 41*8
// Solution: bc0a00004523f1de
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d) << 12 | load32(d + 4) >> 20;
  if (x == 0x00abcdef)
    hit();
  return tell(x);
}
