// Exercises: a CRC of 64 bits over twelve bytes, four of which are fixed
// Input: stdin; seed: 41*12
// Solution: 5a5a000100112233445566aa
#include "capability.h"

int main(void) {
  uint8_t d[12] = {0};
  take(d, sizeof d);
  uint64_t x = ~0ull;
  for (unsigned i = 0; i < sizeof d; i++) {
    x ^= (uint64_t)d[i] << 56;
    for (unsigned k = 0; k < 8; k++)
      x = x << 1 ^ (0x42f0e1eba9ea3693ull & -(x >> 63));
  }
  if (load32(d) == 0x01005a5au && x == 0xc99e03e07f81cab2ull)
    hit();
  return tell(x);
}
