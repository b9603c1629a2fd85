// Exercises: inline assembly without effect: barriers keep what is known
// Input: stdin; seed: 41*4
// Solution: e441a40b
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d);
  __asm__ volatile("" : "+r"(x) : : "memory");
  __asm__ volatile("" : : "r"(d) : "memory");
  if (x == 0xba441e4 && d[3] == 0x0b)
    hit();
  return tell(x);
}
