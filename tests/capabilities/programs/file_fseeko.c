// Exercises: fseeko to a place that the input names, counted from its end
// Input: file; seed: 41*12
// Solution: 41*8 73656b6f
#include "capability.h"

int main(int argc, char **argv) {
  uint8_t d[4] = {0};
  FILE *f = fopen(path_of(argc, argv), "r");
  if (!f || fseeko(f, -4, SEEK_END) != 0 || ftello(f) < 0)
    return 1;
  size_t count = fread(d, 1, 4, f);
  if (load32(d) == 0x6f6b6573)
    hit();
  return tell(count);
}
