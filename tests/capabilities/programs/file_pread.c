// Exercises: pread
// Input: file; seed: 41*12
// Solution: 41*7 0df0adba41
#include "capability.h"

#include <fcntl.h>

int main(int argc, char **argv) {
  uint8_t d[4] = {0};
  int f = open(path_of(argc, argv), O_RDONLY);
  if (f < 0 || pread(f, d, 4, 7) < 0)
    return 1;
  if (load32(d) == 0xbaadf00d)
    hit();
  return tell(d[0]);
}
