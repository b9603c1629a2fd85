// Exercises: another file is opened and read before the input
// Input: file; seed: 41*4
// Solution: 6d61696e
#include "capability.h"

#include <fcntl.h>

int main(int argc, char **argv) {
  uint8_t d[4] = {0}, other[4] = {1, 2, 3, 4};
  int z = open("/dev/zero", O_RDONLY);
  if (z < 0 || read(z, other, 4) != 4)
    return 1;
  close(z);
  int f = open(path_of(argc, argv), O_RDONLY);
  if (f < 0 || read(f, d, 4) < 0)
    return 1;
  if (load32(d) + load32(other) == 0x6e69616d)
    hit();
  return tell(other[0]);
}
