// Exercises: a comparison of 128 bits
// Input: stdin; seed: 41*16
// Solution: 88887777666655554444333322221111
#include "capability.h"

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  unsigned __int128 x = (unsigned __int128)load64(d + 8) << 64 | load64(d);
  if (x == ((unsigned __int128)0x1111222233334444u << 64 | 0x5555666677778888u))
    hit();
  return tell((uint64_t)(x >> 64) ^ (uint64_t)x);
}
