// Exercises: abs of a negative number
// Input: stdin; seed: 41*4
// Solution: c01dfeff
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  int32_t x = (int32_t)load32(d);
  if (x < 0 && x > -0x7fffffff && abs(x) == 123456)
    hit();
  return tell((uint32_t)x);
}
