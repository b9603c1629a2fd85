// Exercises: exclusive or with a shifted second value
// Input: stdin; seed: 41*8
// Solution: 9fa5075e07000000
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d) ^ 0x55aa55aa ^ load32(d + 4) << 3;
  if (x == 0x0badf00d)
    hit();
  return tell(x);
}
