// Exercises: a big-endian double
// Input: stdin; seed: 41*8
// Solution: c0091eb851eb851f
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint64_t bits = __builtin_bswap64(load64(d));
  double x;
  memcpy(&x, &bits, sizeof x);
  if (x == -3.14)
    hit();
  return tell(x > 1.0);
}
