// Exercises: counting bits
// Input: stdin; seed: 41*4
// Solution: fdffffff
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d);
  if (__builtin_popcount(x) == 31)
    hit();
  return tell((unsigned)__builtin_popcount(x));
}
