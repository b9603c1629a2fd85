// Exercises: feof after a read that got less
// Input: stdin; seed: 41*8
// Solution: 414141
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  size_t size = fread(d, 1, 4, stdin);
  if (feof(stdin) && size == 3)
    hit();
  return tell(size);
}
