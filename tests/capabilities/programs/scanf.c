// Exercises: scanf from standard input
// Input: stdin; seed: 41*8
// Solution: 3132202d33343536
#include "capability.h"

int main(void) {
  int a = 0, b = 0;
  if (scanf("%d %d", &a, &b) == 2 && a == 12 && b == -3456)
    hit();
  return tell((unsigned)a);
}
