// Exercises: a signed division of 128 bits by a number of 64
// Input: stdin; seed: 41*2
// Solution: 85ff
#include "capability.h"

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  __int128 x = (__int128)(int16_t)load16(d) * 1000000007 * 4294967311;
  if (x / 4294967311 == -(__int128)123 * 1000000007 && x % 1000 == -771)
    hit();
  return tell((uint64_t)(x / 4294967311));
}
