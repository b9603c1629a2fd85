// Exercises: the overflow flag of a signed subtraction of 64 bits
// Input: stdin; seed: 41*8
// Solution: 03 00*6 80
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  long long rest;
  if (__builtin_sub_overflow((long long)load64(d), 7LL, &rest) && rest == INT64_MAX - 3)
    hit();
  return tell((unsigned long long)rest);
}
