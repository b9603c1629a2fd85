// Exercises: fopen and fread of elements
// Input: file; seed: 41*12
// Solution: 41*8 66726561
#include "capability.h"

int main(int argc, char **argv) {
  uint32_t d[3] = {0};
  FILE *f = fopen(path_of(argc, argv), "rb");
  if (!f)
    return 1;
  size_t count = fread(d, sizeof *d, 3, f);
  fclose(f);
  if (count == 3 && d[2] == 0x61657266)
    hit();
  return tell(count);
}
