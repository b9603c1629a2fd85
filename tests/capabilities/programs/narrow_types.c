// Exercises: truncation and sign extension of 8 and 16 bits
// Input: stdin; seed: 414141
// Solution: 9a0080
#include "capability.h"

int main(void) {
  uint8_t d[3] = {0};
  take(d, sizeof d);
  int8_t x = (int8_t)(d[0] + 100);
  uint16_t y = (uint16_t)(x * 3);
  int16_t z = (int16_t)load16(d + 1);
  if (y == 0xfffa && z == INT16_MIN)
    hit();
  return tell(y);
}
