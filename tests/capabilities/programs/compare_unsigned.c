// Exercises: unsigned order of 64 bits
// Input: stdin; seed: 41*8
// Solution: f1 ff*7
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint64_t x = load64(d);
  if (x > 0xfffffffffffffff0u && x <= 0xfffffffffffffff2u)
    hit();
  return tell(x);
}
