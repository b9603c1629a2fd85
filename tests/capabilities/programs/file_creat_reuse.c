// Exercises: creat takes the number of a file that was closed
// Input: file; seed: 41*8
// Solution: 41*4 6261636b
#include "capability.h"

#include <fcntl.h>

int main(int argc, char **argv) {
  uint8_t d[8] = {0};
  int f = open(path_of(argc, argv), O_RDONLY);
  if (f < 0 || read(f, d, 4) < 0)
    return 1;
  close(f);
  int g = creat("/dev/null", 0600);
  if (g < 0 || write(g, d, 4) != 4)
    return 1;
  close(g);
  f = open(argv[1], O_RDONLY);
  if (f < 0 || pread(f, d + 4, 4, 4) < 0)
    return 1;
  if (load32(d + 4) == 0x6b636162)
    hit();
  return tell((unsigned)(g == f));
}
