// Exercises: a struct that is returned in registers
// Input: stdin; seed: 41*6
// Solution: 2143eeffc000
#include "capability.h"

struct pair {
  uint32_t a;
  uint64_t b;
};

static NOINLINE struct pair make(const uint8_t *d) {
  return (struct pair){load16(d), load32(d + 2)};
}

int main(void) {
  uint8_t d[6] = {0};
  take(d, sizeof d);
  struct pair p = make(d);
  if (p.a == 0x4321 && p.b == 0xc0ffee)
    hit();
  return tell(p.a + p.b);
}
