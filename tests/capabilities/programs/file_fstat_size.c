// Exercises: a buffer of the size that fstat tells
// Input: file; seed: 41*4
// Solution: 41*16 66737461
#include "capability.h"

#include <fcntl.h>
#include <sys/stat.h>

int main(int argc, char **argv) {
  struct stat facts;
  int f = open(path_of(argc, argv), O_RDONLY);
  if (f < 0 || fstat(f, &facts) != 0 || facts.st_size < 1)
    return 1;
  size_t size = (size_t)facts.st_size;
  uint8_t *d = malloc(size);
  if (!d || read(f, d, size) < 0)
    return 1;
  if (size == 20 && load32(d + 16) == 0x61747366)
    hit();
  free(d);
  return tell(size);
}
