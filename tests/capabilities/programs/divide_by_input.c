// Exercises: unsigned division by an input value
// Input: stdin; seed: 41*6
// Solution: f90864012c01
#include "capability.h"

int main(void) {
  uint8_t d[6] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d), by = load16(d + 4);
  if (by != 0 && x / by == 77777 && x % by == 13)
    hit();
  return tell(by ? x / by : 0);
}
