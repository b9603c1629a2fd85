// Exercises: an empty seed
// Input: stdin; seed: -
// Solution: 5a39
#include "capability.h"

int main(void) {
  uint8_t d[2] = {0};
  size_t size = take(d, sizeof d);
  if (size == 2 && d[0] == 'Z' && d[1] == '9')
    hit();
  return tell(size);
}
