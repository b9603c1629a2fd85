// Exercises: an integer of 100 bits
// Input: stdin; seed: 41*12
// Solution: 00100000000000000100 00*2
#include "capability.h"

typedef unsigned _BitInt(100) number;

int main(void) {
  uint8_t d[12] = {0};
  take(d, sizeof d);
  number x = (number)load64(d) | (number)load32(d + 8) << 64;
  number y = x * 3 + 5;
  if ((uint64_t)(y >> 64) == 3 && (uint64_t)y == 0x3005)
    hit();
  return tell((uint64_t)(y >> 50));
}
