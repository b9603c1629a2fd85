// Exercises: dup, which shares the place in the file
// Input: file; seed: 41*8
// Solution: 41*4 64757021
#include "capability.h"

#include <fcntl.h>

int main(int argc, char **argv) {
  uint8_t d[8] = {0};
  int f = open(path_of(argc, argv), O_RDONLY), g = dup(f);
  if (g < 0 || read(f, d, 4) < 0)
    return 1;
  close(f);
  if (read(g, d + 4, 4) < 0)
    return 1;
  if (load32(d + 4) == 0x21707564)
    hit();
  return tell(d[0]);
}
