// Exercises: a switch with large gaps
// Input: stdin; seed: 41*4
// Solution: f1ad7600
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  switch (load32(d)) {
  case 12:
    return tell(1);
  case 7777777:
    hit();
  case 0xffff0000:
    return tell(2);
  case 0x10203040:
    return tell(3);
  default:
    return tell(4);
  }
}
