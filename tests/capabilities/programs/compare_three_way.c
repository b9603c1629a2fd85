// Exercises: a three-way comparison as sort functions return it
// Input: stdin; seed: 41*8
// Solution: f0ffff7fefffff7f
#include "capability.h"

static NOINLINE int order(int32_t a, int32_t b) { return (a > b) - (a < b); }

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  int32_t a = (int32_t)load32(d), b = (int32_t)load32(d + 4);
  if (order(a, 0x7fffffef) == 1 && order(b, 0x7fffffee) == 1 && order(a, b) == 1 && a - b == 1)
    hit();
  return tell((uint32_t)order(a, b));
}
