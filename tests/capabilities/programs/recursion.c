// Exercises: recursion whose depth depends on the input
// Input: stdin; seed: 41
// Solution: 07
#include "capability.h"

static NOINLINE unsigned steps(unsigned x) {
  return x == 1 ? 0 : 1 + steps(x & 1 ? 3 * x + 1 : x / 2);
}

int main(void) {
  uint8_t d[1] = {0};
  take(d, sizeof d);
  if (d[0] > 1 && d[0] < 9 && steps(d[0]) == 16)
    hit();
  return tell(d[0]);
}
