// Exercises: CRC-32 over four bytes, bit by bit
// Input: stdin; seed: 41*4
// Solution: deadc0de
#include "capability.h"

static NOINLINE uint32_t crc(const uint8_t *d, unsigned size) {
  uint32_t x = 0xffffffffu;
  for (unsigned i = 0; i < size; i++) {
    x ^= d[i];
    for (unsigned k = 0; k < 8; k++)
      x = x >> 1 ^ (0xedb88320u & -(x & 1));
  }
  return ~x;
}

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = crc(d, sizeof d);
  if (x == 0x9cfef718u)
    hit();
  return tell(x);
}
