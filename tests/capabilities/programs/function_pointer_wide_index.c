// Exercises: a call through a table of pointers at an index of two bytes
// Input: stdin; seed: 4141
// Solution: 1000
#include "capability.h"

static NOINLINE int one(int x) { return x + 1; }
static NOINLINE int two(int x) { return x * 2; }
static NOINLINE int three(int x) { return x - 3; }
static int (*table[40])(int);

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  for (unsigned i = 0; i < 40; i++)
    table[i] = i % 7 ? one : two;
  table[16] = three;
  int x = table[load16(d) % 40](1000);
  if (x == 997)
    hit();
  return tell((unsigned)x);
}
