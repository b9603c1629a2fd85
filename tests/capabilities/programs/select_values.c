// Exercises: a conditional value, a select from -O1 on
// Input: stdin; seed: 41*8
// Solution: 320000000100ed5e
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint32_t a = load32(d), b = load32(d + 4);
  uint32_t x = a < 100 ? b : a;
  if (x == 0x5eed0001 && a == 50)
    hit();
  return tell(x);
}
