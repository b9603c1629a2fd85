// Exercises: an atomic minimum, maximum and nand
// Input: stdin; seed: 41*6
// Solution: 1127bbaa3b9a
#include "capability.h"

int main(void) {
  uint8_t d[6] = {0};
  take(d, sizeof d);
  uint16_t low = 0x8000, high = 0x8000, bits = 0x0ff0;
  __atomic_fetch_min(&low, load16(d), __ATOMIC_SEQ_CST);
  __atomic_fetch_max(&high, load16(d + 2), __ATOMIC_SEQ_CST);
  __atomic_fetch_nand(&bits, load16(d + 4), __ATOMIC_SEQ_CST);
  if (low == 0x2711 && high == 0xaabb && bits == (uint16_t)~0x0a30)
    hit();
  return tell(low + high + bits);
}
