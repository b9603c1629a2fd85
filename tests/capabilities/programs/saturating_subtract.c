// Exercises: subtraction that saturates (usub.sat from -O1 on)
// Input: stdin; seed: 41*8
// Solution: e8030000e7c3ffff
#include "capability.h"

static NOINLINE uint32_t subtract(uint32_t a, uint32_t b) { return a > b ? a - b : 0; }

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint32_t x = subtract(load32(d + 4), load32(d));
  if (x == 0xffffbfff)
    hit();
  return tell(x);
}
