// Exercises: a function with more arguments than registers
// Input: stdin; seed: 41*10
// Solution: 01020304050607ffc809
#include "capability.h"

static NOINLINE int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) {
  return a + b * 2 + c * 3 + d + e + f + g + h * 5 + i * 7 - j;
}

int main(void) {
  uint8_t d[10] = {0};
  take(d, sizeof d);
  int x = many(d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9]);
  if (x == 1 + 4 + 9 + 4 + 5 + 6 + 7 + 1275 + 1400 - 9)
    hit();
  return tell((unsigned)x);
}
