// Exercises: a call through a pointer that the input selects
// Input: stdin; seed: 4141
// Solution: 6309
#include "capability.h"

static NOINLINE int one(int x) { return x + 1; }
static NOINLINE int two(int x) { return x * 3; }

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  int (*f)(int) = d[1] == 9 ? two : one;
  int x = f(d[0]);
  if (x == 297)
    hit();
  return tell((unsigned)x);
}
