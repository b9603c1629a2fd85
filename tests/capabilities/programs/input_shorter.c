// Exercises: an input that must be shorter than the seed
// Input: stdin; seed: 41*24
// Solution: 41*5
#include "capability.h"

int main(void) {
  uint8_t d[64] = {0};
  size_t size = take(d, sizeof d);
  if (size == 5)
    hit();
  return tell(size);
}
