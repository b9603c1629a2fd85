// Exercises: inline assembly: an operand in memory
// Input: stdin; seed: 41*8
// Solution: 0010000034020000
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d), y = load32(d + 4);
  __asm__("subl %1, %0" : "+r"(x) : "m"(y) : "cc");
  if (x == 0xdcc && d[4] == 0x34)
    hit();
  return tell(x);
}
