// Exercises: memset with a byte of the input
// Input: stdin; seed: 41
// Solution: a7
#include "capability.h"

int main(void) {
  uint8_t d[1] = {0}, to[8] = {0};
  take(d, sizeof d);
  memset(to, d[0], 5);
  if (load64(to) == 0xa7a7a7a7a7u)
    hit();
  return tell(to[0]);
}
