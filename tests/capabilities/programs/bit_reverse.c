// Exercises: the bit reversal builtin
// Input: stdin; seed: 41*4
// Solution: c8ead9fb
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = __builtin_bitreverse32(load32(d));
  if (x == 0x13579bdf)
    hit();
  return tell(x);
}
