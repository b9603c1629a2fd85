// Exercises: shifts of 128 bits by an input value
// Input: stdin; seed: 41*9
// Solution: 0123456789abcdef 2d
#include "capability.h"

int main(void) {
  uint8_t d[9] = {0};
  take(d, sizeof d);
  unsigned __int128 x = (unsigned __int128)load64(d) << (d[8] & 127);
  if ((uint64_t)(x >> 64) == 0xefcdab8967452301u >> 19 && (d[8] & 127) == 45)
    hit();
  return tell((uint64_t)(x >> 64));
}
