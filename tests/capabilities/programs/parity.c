// Exercises: the parity builtin
// Input: stdin; seed: 4141
// Solution: 01b3
#include "capability.h"

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  unsigned x = load16(d);
  if (__builtin_parity(x) == 0 && (x & 0xff) == 1 && x >> 8 == 0xb3)
    hit();
  return tell((unsigned)__builtin_parity(x));
}
