// Exercises: a switch without gaps
// Input: stdin; seed: 4141
// Solution: 0468
#include "capability.h"

static NOINLINE unsigned value(uint8_t x) {
  switch (x) {
  case 0:
    return 5;
  case 1:
    return 9;
  case 2:
    return 14;
  case 3:
    return 3;
  case 4:
    return 88;
  case 5:
    return 1;
  case 6:
    return 21;
  default:
    return 0;
  }
}

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  unsigned x = value(d[0]) * 3 + value((uint8_t)(d[1] - 100));
  if (x == 88 * 3 + 88)
    hit();
  return tell(x);
}
