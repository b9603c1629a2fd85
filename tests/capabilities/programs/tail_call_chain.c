// Exercises: a chain of calls that must be tail calls, through pointers
// Input: stdin; seed: 41*4
// Solution: 7856f412
#include "capability.h"

typedef uint32_t step(uint32_t);

static NOINLINE uint32_t last(uint32_t x) { return x ^ 0xff; }
static step *volatile second_step = last;
static NOINLINE uint32_t second(uint32_t x) { __attribute__((musttail)) return second_step(x + 1); }
static NOINLINE uint32_t first(uint32_t x) {
  if (x == 7)
    return 3;
  __attribute__((musttail)) return second(x * 3);
}

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = first(load32(d));
  if (x == (((0x12f45678u * 3) + 1) ^ 0xff))
    hit();
  return tell(x);
}
