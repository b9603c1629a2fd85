// Exercises: inline assembly: a product in two fixed registers
// Input: stdin; seed: 41*8
// Solution: f1debc9a78563412
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint64_t x = load64(d), low, high;
  __asm__("mulq %3" : "=a"(low), "=d"(high) : "a"(x), "rm"(0xc96c5795d7870f43u) : "cc");
  if (high == 0xe52cc339d8c72d0u && (uint16_t)low == 0x7813)
    hit();
  return tell(high);
}
