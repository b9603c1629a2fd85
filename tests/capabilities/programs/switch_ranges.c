// Exercises: a switch over ranges of characters
// Input: stdin; seed: 414141
// Solution: 71372d
#include "capability.h"

static NOINLINE int kind(int c) {
  switch (c) {
  case 'a' ... 'p':
    return 1;
  case 'q' ... 'z':
    return 2;
  case '0' ... '6':
    return 3;
  case '7' ... '9':
    return 4;
  case '-':
    return 5;
  default:
    return 0;
  }
}

int main(void) {
  uint8_t d[3] = {0};
  take(d, sizeof d);
  int x = kind(d[0]) * 100 + kind(d[1]) * 10 + kind(d[2]);
  if (x == 245)
    hit();
  return tell((unsigned)x);
}
