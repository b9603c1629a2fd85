// Exercises: a product of 128 bits, its upper half
// Input: stdin; seed: 41*8
// Solution: f1debc9a78563412
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  unsigned __int128 x = (unsigned __int128)load64(d) * 0xc96c5795d7870f43u;
  if ((uint64_t)(x >> 64) == 0xe52cc339d8c72d0u && (uint16_t)x == 0x7813)
    hit();
  return tell((uint64_t)(x >> 64));
}
