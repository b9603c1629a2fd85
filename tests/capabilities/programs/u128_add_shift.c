// Exercises: carry and shift of 128 bits
// Input: stdin; seed: 41*16
// Solution: f9 ff*7 eebeadde 00*4
#include "capability.h"

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  unsigned __int128 x = (unsigned __int128)load64(d + 8) << 64 | load64(d);
  x = (x + 7) >> 32;
  if (x == (unsigned __int128)0xdeadbeefu << 32)
    hit();
  return tell((uint64_t)x);
}
