// Exercises: inline assembly: the highest bit that is set
// Input: stdin; seed: 41*4
// Solution: 41414100
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d), top = 0;
  __asm__("bsrl %1, %0" : "=r"(top) : "r"(x | 1) : "cc");
  if (top == 22 && (x & 0xffff) == 0x4141)
    hit();
  return tell(top);
}
