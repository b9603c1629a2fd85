// Exercises: a rotate by an input value
// Input: stdin; seed: 41*5
// Solution: f76df57e05
#include "capability.h"

int main(void) {
  uint8_t d[5] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d), by = d[4] & 31;
  x = x << by | x >> (-by & 31);
  if (x == 0xdeadbeef && by == 5)
    hit();
  return tell(x);
}
