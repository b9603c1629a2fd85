// Exercises: the size of a file by lseek, and a buffer of that size
// Input: file; seed: 41*4
// Solution: 41*8 73697a65
#include "capability.h"

#include <fcntl.h>

int main(int argc, char **argv) {
  int f = open(path_of(argc, argv), O_RDONLY);
  off_t size = f < 0 ? -1 : lseek(f, 0, SEEK_END);
  if (size < 1 || lseek(f, 0, SEEK_SET) != 0)
    return 1;
  uint8_t *d = malloc((size_t)size);
  if (!d || read(f, d, (size_t)size) != size)
    return 1;
  if (size == 12 && load32(d + 8) == 0x657a6973)
    hit();
  return tell((unsigned long)size);
}
