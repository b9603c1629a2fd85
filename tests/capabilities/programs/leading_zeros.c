// Exercises: counting leading zeros
// Input: stdin; seed: 41*4
// Solution: 00000400
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d);
  if (x != 0 && __builtin_clz(x) == 13)
    hit();
  return tell(x);
}
