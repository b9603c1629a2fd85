// Exercises: inline assembly: a carry from one addition to the next
// Input: stdin; seed: 41*16
// Solution: ff*8 0500000000000000
#include "capability.h"

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  uint64_t low = load64(d), high = load64(d + 8);
  __asm__("addq %2, %0\n\tadcq %3, %1" : "+r"(low), "+r"(high) : "r"(3ull), "r"(7ull) : "cc");
  if (low == 2 && high == 13)
    hit();
  return tell(low ^ high);
}
