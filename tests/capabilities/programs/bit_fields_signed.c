// Exercises: signed bit fields that are written and read again
// Input: stdin; seed: 41*4
// Solution: 1d830300
#include "capability.h"

struct fields {
  int low : 5, high : 13;
};

static NOINLINE struct fields pack(uint32_t x) {
  struct fields f;
  f.low = (int)(x & 31);
  f.high = (int)(x >> 5 & 0x1fff);
  return f;
}

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  struct fields f = pack(load32(d));
  if (f.low == -3 && f.high == -1000)
    hit();
  return tell((unsigned)f.high);
}
