// Exercises: a signed char widened to 64 bits and multiplied
// Input: stdin; seed: 4141
// Solution: 8513
#include "capability.h"

int main(void) {
  signed char d[2] = {0};
  take(d, sizeof d);
  long long x = (long long)d[0] * 1000003 + d[1];
  if (x == -123LL * 1000003 + 0x13)
    hit();
  return tell((unsigned long long)x);
}
