// Exercises: a shift by an input value
// Input: stdin; seed: 41*5
// Solution: 15a7020000
#include "capability.h"

int main(void) {
  uint8_t d[5] = {0};
  take(d, sizeof d);
  if (d[0] < 32 && load32(d + 1) << d[0] == 0x54e00000 && d[4] == 0 && d[3] == 0)
    hit();
  return tell(d[0] & 31);
}
