// Exercises: minimum and maximum
// Input: stdin; seed: 41*8
// Solution: e8030000d0070000
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint32_t a = load32(d), b = load32(d + 4);
  uint32_t low = a < b ? a : b, high = a < b ? b : a;
  if (low == 1000 && high == 2000)
    hit();
  return tell(low ^ high);
}
