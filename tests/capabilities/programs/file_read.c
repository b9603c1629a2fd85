// Exercises: open and read
// Input: file; seed: 41*8
// Solution: 41*4 72656164
#include "capability.h"

#include <fcntl.h>

int main(int argc, char **argv) {
  uint8_t d[8] = {0};
  int f = open(path_of(argc, argv), O_RDONLY);
  if (f < 0 || read(f, d, 3) < 0 || read(f, d + 3, 5) < 0)
    return 1;
  close(f);
  if (load32(d + 4) == 0x64616572)
    hit();
  return tell(d[0]);
}
