// Exercises: a product of two input values
// Input: stdin; seed: 41*4
// Solution: 6dea5fea
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t a = load16(d), b = load16(d + 2);
  if (a > b && a * b == 60013u * 59999u)
    hit();
  return tell(a * b);
}
