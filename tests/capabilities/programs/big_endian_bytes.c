// Exercises: a big-endian number put together from bytes
// Input: stdin; seed: 41*4
// Solution: 7f454c46
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = (uint32_t)d[0] << 24 | (uint32_t)d[1] << 16 | (uint32_t)d[2] << 8 | d[3];
  if (x == 0x7f454c46)
    hit();
  return tell(x);
}
