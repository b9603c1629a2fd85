// Exercises: dup2 onto standard input
// Input: file; seed: 41*4
// Solution: 64757032
#include "capability.h"

#include <fcntl.h>

int main(int argc, char **argv) {
  int f = open(path_of(argc, argv), O_RDONLY);
  if (f < 0 || dup2(f, 0) != 0)
    return 1;
  close(f);
  uint8_t d[4] = {0};
  take(d, sizeof d);
  if (load32(d) == 0x32707564)
    hit();
  return tell(d[0]);
}
