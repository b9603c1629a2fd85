// Exercises: a loop that clang would turn into vector code
// Input: stdin; seed: 41*64
// Solution: ff*31 5f 00*32
#include "capability.h"

int main(void) {
  static uint8_t d[64];
  take(d, sizeof d);
  uint32_t sum = 0;
  for (unsigned i = 0; i < 64; i++)
    sum += d[i];
  if (sum == 8000)
    hit();
  return tell(sum);
}
