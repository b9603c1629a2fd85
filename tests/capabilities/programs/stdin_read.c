// Exercises: read from standard input
// Input: stdin; seed: 41*8
// Solution: 737464696e2d7264
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  if (read(0, d, sizeof d) < 0)
    return 1;
  if (load64(d) == 0x64722d6e69647473u)
    hit();
  return tell(d[0]);
}
