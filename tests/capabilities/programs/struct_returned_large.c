// Exercises: a struct that is returned in memory
// Input: stdin; seed: 41*4
// Solution: 0df00d60
#include "capability.h"

struct block {
  uint32_t words[12];
};

static NOINLINE struct block make(uint32_t x) {
  struct block b = {{0}};
  for (unsigned i = 0; i < 12; i++)
    b.words[i] = x + i;
  return b;
}

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  struct block b = make(load32(d));
  if (b.words[11] == 0x600df00d + 11u)
    hit();
  return tell(b.words[11]);
}
