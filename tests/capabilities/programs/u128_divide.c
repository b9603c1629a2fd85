// Exercises: a division of 128 bits (a call of the compiler's library)
// Input: stdin; seed: 41*16
// Solution: 7b00004a48011416954508 00*5
#include "capability.h"

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  unsigned __int128 x = (unsigned __int128)load64(d + 8) << 64 | load64(d);
  unsigned __int128 by = (unsigned __int128)10000000000000u * 1000000000000u;
  if (x / by == 1 && x % by == 123)
    hit();
  return tell((uint64_t)(x / by));
}
