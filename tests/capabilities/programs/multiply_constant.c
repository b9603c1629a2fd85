// Exercises: a multiplication modulo 2^32
// Input: stdin; seed: 41*4
// Solution: f86397e1
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d) * 2654435761u;
  if (x == 0x12345678)
    hit();
  return tell(x);
}
