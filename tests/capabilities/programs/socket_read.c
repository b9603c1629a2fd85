// Exercises: read from a socket, and what lies behind the first part
// Input: socket; seed: 41*8
// Solution: 534f434b 72656164
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  if (read(0, d, 3) != 3 || read(0, d + 3, 5) != 5)
    return 1;
  if (memcmp(d, "SOCKread", 8) == 0)
    hit();
  return tell(d[0]);
}
