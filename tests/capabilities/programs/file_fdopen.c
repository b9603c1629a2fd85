// Exercises: fdopen of a file that was read from before
// Input: file; seed: 41*8
// Solution: 41*4 66646f70
#include "capability.h"

#include <fcntl.h>

int main(int argc, char **argv) {
  uint8_t d[8] = {0};
  int n = open(path_of(argc, argv), O_RDONLY);
  if (n < 0 || read(n, d, 4) < 0)
    return 1;
  FILE *f = fdopen(n, "r");
  if (!f)
    return 1;
  size_t count = fread(d + 4, 1, 4, f);
  if (load32(d + 4) == 0x706f6466)
    hit();
  return tell(count);
}
