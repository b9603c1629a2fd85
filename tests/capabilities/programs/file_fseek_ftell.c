// Exercises: fseek, ftell and rewind
// Input: file; seed: 41*12
// Solution: 41*5 74656c6c414141
#include "capability.h"

int main(int argc, char **argv) {
  uint8_t d[4] = {0};
  FILE *f = fopen(path_of(argc, argv), "r");
  if (!f || fseek(f, 0, SEEK_END) != 0)
    return 1;
  long size = ftell(f);
  rewind(f);
  int first = getc(f);
  if (fseek(f, 4, SEEK_CUR) != 0 || ftell(f) != 5)
    return 1;
  size_t count = fread(d, 1, 4, f);
  if (count == 4 && size == 12 && first == 'A' && load32(d) == 0x6c6c6574)
    hit();
  return tell((unsigned long)size);
}
