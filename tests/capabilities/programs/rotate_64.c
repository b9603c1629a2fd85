// Exercises: a rotate of 64 bits
// Input: stdin; seed: 41*8
// Solution: 5e4d3c2b1a09786f
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint64_t x = load64(d);
  x = x << 13 | x >> 51;
  if (x == 0x0123456789abcdefu)
    hit();
  return tell(x);
}
