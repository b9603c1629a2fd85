// Exercises: a place in the file that the input itself names
// Input: file; seed: 04 41*15
// Solution: 09 41*8 6a756d70414141
#include "capability.h"

int main(int argc, char **argv) {
  uint8_t d[4] = {0};
  FILE *f = fopen(path_of(argc, argv), "r");
  if (!f)
    return 1;
  int to = getc(f);
  if (to < 9 || to > 11 || fseek(f, to, SEEK_SET) != 0)
    return 1;
  size_t count = fread(d, 1, 4, f);
  if (load32(d) == 0x706d756a)
    hit();
  return tell(count);
}
