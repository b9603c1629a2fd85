// Exercises: a signed comparison of 128 bits within a narrow range
// Input: stdin; seed: 41*16
// Solution: f0 ff*15
#include "capability.h"

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  __int128 x = (__int128)((unsigned __int128)load64(d + 8) << 64 | load64(d));
  if (x < -10 && x > -20)
    hit();
  return tell((uint64_t)x);
}
