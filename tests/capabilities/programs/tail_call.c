// Exercises: calls that must be tail calls
// Input: stdin; seed: 41*4
// Solution: 0000117a
#include "capability.h"

static NOINLINE uint32_t last(uint32_t x) { return x * 5 + 1; }

static NOINLINE uint32_t middle(uint32_t x) { __attribute__((musttail)) return last(x ^ 0xff); }

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = middle(load32(d));
  if (x == (0x7a110000u ^ 0xff) * 5 + 1)
    hit();
  return tell(x);
}
