// Exercises: the byte swap builtin
// Input: stdin; seed: 41*8
// Solution: 1122334455667788
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint64_t x = __builtin_bswap64(load64(d));
  if (x == 0x1122334455667788u)
    hit();
  return tell(x);
}
