// Exercises: the overflow flag of a signed addition
// Input: stdin; seed: 41*4
// Solution: ffffff7f
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  int32_t sum;
  if (__builtin_add_overflow((int32_t)load32(d), 5, &sum))
    hit();
  return tell((uint32_t)sum);
}
