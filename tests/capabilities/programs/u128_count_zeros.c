// Exercises: leading zeros and population count of 128 bits
// Input: stdin; seed: 41*16
// Solution: 01 00*7 0000080000000000
#include "capability.h"

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  uint64_t high = load64(d + 8), low = load64(d);
  int zeros = high ? __builtin_clzll(high) : low ? 64 + __builtin_clzll(low) : 128;
  int ones = __builtin_popcountll(high) + __builtin_popcountll(low);
  if (zeros == 44 && ones == 2 && (low & 1))
    hit();
  return tell((unsigned)(zeros * 256 + ones));
}
