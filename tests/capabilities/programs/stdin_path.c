// Exercises: standard input opened by its path
// Input: stdin; seed: 41*4
// Solution: 70617468
#include "capability.h"

#include <fcntl.h>

int main(void) {
  uint8_t d[4] = {0};
  int f = open("/dev/stdin", O_RDONLY);
  if (f < 0 || read(f, d, sizeof d) < 0)
    return 1;
  if (load32(d) == 0x68746170)
    hit();
  return tell(d[0]);
}
