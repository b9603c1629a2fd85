// Exercises: inline assembly: bswap
// Input: stdin; seed: 41*4
// Solution: decafbad
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d);
  __asm__("bswap %0" : "+r"(x));
  if (x == 0xdecafbad)
    hit();
  return tell(x);
}
