// Exercises: a call through a table of pointers at an index of the input
// Input: stdin; seed: 4141
// Solution: 03c8
#include "capability.h"

static NOINLINE int add(int x) { return x + 1; }
static NOINLINE int flip(int x) { return x ^ 0x155; }
static NOINLINE int negate(int x) { return -x; }
static NOINLINE int square(int x) { return x * x; }
static int (*const table[])(int) = {add, flip, negate, square};

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  int x = table[d[0] & 3](d[1]);
  if (x == 40000)
    hit();
  return tell((unsigned)x);
}
