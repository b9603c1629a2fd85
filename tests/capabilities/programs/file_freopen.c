// Exercises: freopen of standard input
// Input: file; seed: 41*4
// Solution: 6672656f
#include "capability.h"

int main(int argc, char **argv) {
  if (!freopen(path_of(argc, argv), "r", stdin))
    return 1;
  uint8_t d[4] = {0};
  take(d, sizeof d);
  if (load32(d) == 0x6f657266)
    hit();
  return tell(d[0]);
}
