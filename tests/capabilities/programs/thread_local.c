// Exercises: a thread-local variable
// Input: stdin; seed: 41*4
// Solution: 71000000
#include "capability.h"

static __thread uint32_t mine = 9;

static NOINLINE void change(uint32_t x) { mine = mine * 1000 + x; }

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  change(load32(d));
  if (mine == 9113)
    hit();
  return tell(mine);
}
