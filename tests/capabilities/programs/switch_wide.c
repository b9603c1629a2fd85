// Exercises: a switch over 64 bits with a fall through
// Input: stdin; seed: 41*8
// Solution: 1032547698badcfe
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  unsigned x = 0;
  switch (load64(d)) {
  case 0xfedcba9876543210u:
    x += 1;
    __attribute__((fallthrough));
  case 0x0123456789abcdefu:
    x += 10;
    __attribute__((fallthrough));
  case 99:
    x += 100;
    break;
  default:
    break;
  }
  if (x == 111)
    hit();
  return tell(x);
}
