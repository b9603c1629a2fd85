// Exercises: a call through an alias and one to a weak function
// Input: stdin; seed: 41*4
// Solution: a5110a00
#include "capability.h"

static NOINLINE uint32_t real_one(uint32_t x) { return x + 3; }
extern __typeof__(real_one) other_name __attribute__((alias("real_one")));
__attribute__((weak)) NOINLINE uint32_t weak_one(uint32_t x) { return x * 9; }

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = weak_one(other_name(load32(d)));
  if (x == (0xa11a5 + 3) * 9)
    hit();
  return tell(x);
}
