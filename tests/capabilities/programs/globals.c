// Exercises: global and static variables
// Input: stdin; seed: 41*4
// Solution: 07f00d60
#include "capability.h"

static uint32_t total;

static NOINLINE void add(uint32_t x) {
  static uint32_t calls;
  total += x + ++calls;
}

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  add(load32(d));
  add(1);
  add(-1u);
  if (total == 0x600df00d)
    hit();
  return tell(total);
}
