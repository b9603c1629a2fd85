// Exercises: counting trailing zeros of 64 bits
// Input: stdin; seed: 41*8
// Solution: 00*5 200000
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint64_t x = load64(d);
  if (x != 0 && __builtin_ctzll(x) == 45)
    hit();
  return tell(x);
}
