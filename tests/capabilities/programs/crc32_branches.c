// Exercises: CRC-32 over four bytes with a branch for each bit
// Input: stdin; seed: 41*4
// Solution: beef0001
#include "capability.h"

static NOINLINE uint32_t crc(const uint8_t *d, unsigned size) {
  uint32_t x = 0xffffffffu;
  for (unsigned i = 0; i < size; i++) {
    x ^= d[i];
    for (unsigned k = 0; k < 8; k++) {
      if (x & 1)
        x = x >> 1 ^ 0xedb88320u;
      else
        x = x >> 1;
    }
  }
  return ~x;
}

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = crc(d, sizeof d);
  if (x == 0x95041beu)
    hit();
  return tell(x);
}
