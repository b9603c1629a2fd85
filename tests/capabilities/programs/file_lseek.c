// Exercises: lseek from the end
// Input: file; seed: 41*12
// Solution: 41*8 7365656b
#include "capability.h"

#include <fcntl.h>

int main(int argc, char **argv) {
  uint8_t d[4] = {0};
  int f = open(path_of(argc, argv), O_RDONLY);
  if (f < 0 || lseek(f, -4, SEEK_END) < 0 || read(f, d, 4) != 4)
    return 1;
  if (load32(d) == 0x6b656573)
    hit();
  return tell(d[0]);
}
