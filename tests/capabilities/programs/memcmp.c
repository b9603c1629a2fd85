// Exercises: memcmp, equality
// Input: stdin; seed: 41*8
// Solution: 89504e470d0a1a0a
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  if (memcmp(d, "\x89PNG\r\n\x1a\n", 8) == 0)
    hit();
  return tell(memcmp(d, "\x89PNG", 4) < 0);
}
