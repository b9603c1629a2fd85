// Exercises: inline assembly: an addition of two operands
// Input: stdin; seed: 41*8
// Solution: 0010000034020000
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d), y = load32(d + 4);
  __asm__("addl %1, %0" : "+r"(x) : "r"(y) : "cc");
  if (x == 0x1234 && y == 0x0234)
    hit();
  return tell(x);
}
