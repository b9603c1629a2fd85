// Exercises: a number written as one type and read as another
// Input: stdin; seed: 41*8
// Solution: 00*5 4a9340
#include "capability.h"

int main(void) {
  union {
    uint8_t bytes[8];
    uint64_t word;
    struct {
      uint32_t low, high;
    } half;
  } u = {.word = 0};
  take(u.bytes, sizeof u.bytes);
  if (u.half.high == 0x40934a00 && u.half.low == 0)
    hit();
  return tell(u.word);
}
