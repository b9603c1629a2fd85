// Exercises: inline assembly: a comparison whose flag is an output
// Input: stdin; seed: 41*4
// Solution: 41414112
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d);
  uint8_t below, equal;
  __asm__("cmpl %2, %1\n\tsetb %0" : "=q"(below) : "r"(x), "r"(0x20000000u) : "cc");
  __asm__("cmpb $0x12, %1" : "=@cce"(equal) : "q"(d[3]));
  if (below && equal)
    hit();
  return tell(below * 2u + equal);
}
