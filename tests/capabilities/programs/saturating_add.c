// Exercises: addition that saturates (uadd.sat from -O1 on)
// Input: stdin; seed: 4141
// Solution: c837
#include "capability.h"

static NOINLINE uint8_t add(uint8_t a, uint8_t b) {
  uint8_t sum = (uint8_t)(a + b);
  return sum < a ? 255 : sum;
}

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  uint8_t x = add(d[0], d[1]);
  if (x == 255 && d[0] == 200 && (d[1] & 0x0f) == 7)
    hit();
  return tell(x);
}
