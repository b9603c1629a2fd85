// Exercises: an input that must be longer than the seed
// Input: stdin; seed: 41*4
// Solution: 41*23
#include "capability.h"

int main(void) {
  uint8_t d[64] = {0};
  size_t size = take(d, sizeof d);
  if (size == 23)
    hit();
  return tell(size);
}
