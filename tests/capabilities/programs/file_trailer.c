// Exercises: four bytes before the end of a file
// Input: file; seed: 41*10
// Solution: 41*6 74726c72
#include "capability.h"

int main(int argc, char **argv) {
  uint8_t d[4] = {0};
  FILE *f = fopen(path_of(argc, argv), "r");
  if (!f || fseek(f, -4, SEEK_END) != 0 || fread(d, 1, 4, f) != 4)
    return 1;
  if (load32(d) == 0x726c7274)
    hit();
  return tell(d[0]);
}
