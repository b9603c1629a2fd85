// Exercises: inline assembly: a rotate of 16 bits, as htons was written once
// Input: stdin; seed: 4141
// Solution: 1234
#include "capability.h"

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  uint16_t x = load16(d);
  __asm__("rorw $8, %0" : "+r"(x) : : "cc");
  if (x == 0x1234)
    hit();
  return tell(x);
}
