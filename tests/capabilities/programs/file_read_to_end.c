// Exercises: a loop of read until it gives nothing
// Input: file; seed: 41*4
// Solution: 41*33
#include "capability.h"

#include <fcntl.h>

int main(int argc, char **argv) {
  uint8_t d[16];
  size_t size = 0;
  ssize_t got;
  int f = open(path_of(argc, argv), O_RDONLY);
  if (f < 0)
    return 1;
  while ((got = read(f, d, sizeof d)) > 0)
    size += (size_t)got;
  if (size == 33)
    hit();
  return tell(size);
}
