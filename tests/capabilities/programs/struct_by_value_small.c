// Exercises: a struct that is passed in registers
// Input: stdin; seed: 41*8
// Solution: 4141000011110000
#include "capability.h"

struct pair {
  uint32_t a, b;
};

static NOINLINE uint32_t mix(struct pair x) { return x.a ^ x.b; }

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  struct pair p = {load32(d), load32(d + 4)};
  if (mix(p) == 0x5050 && p.b == 0x1111)
    hit();
  return tell(mix(p));
}
