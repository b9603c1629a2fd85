// Exercises: bytes behind the end of the seed
// Input: stdin; seed: 41*4
// Solution: 41*8 6c6f6e67
#include "capability.h"

int main(void) {
  uint8_t d[64] = {0};
  size_t size = take(d, sizeof d);
  if (size >= 12 && memcmp(d + 8, "long", 4) == 0)
    hit();
  return tell(size);
}
