// Exercises: a struct that is passed in memory
// Input: stdin; seed: 41*8
// Solution: 0000cdab34120000
#include "capability.h"

struct big {
  uint64_t a, b, c, d;
};

static NOINLINE uint64_t mix(struct big x) { return x.a + x.b + x.c - x.d; }

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  struct big x = {load32(d), 1, load32(d + 4), 2};
  uint64_t y = mix(x);
  if (y == 0xabcd1233)
    hit();
  return tell(y);
}
