// Exercises: the overflow flag and the value of a multiplication
// Input: stdin; seed: 41*4
// Solution: abaaaaaa
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t product;
  if (__builtin_mul_overflow(load32(d), 3u, &product) && product == 1)
    hit();
  return tell(product);
}
