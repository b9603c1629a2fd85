// Exercises: cases that lead to one place, of which the value is used there
// Input: stdin; seed: 4141
// Solution: 3776
#include "capability.h"

static NOINLINE int weigh(int c) {
  switch (c) {
  case 'a' ... 'f':
  case 'v':
    return c - 'a' + 10;
  case '0' ... '9':
    return c - '0';
  case 'A':
  case 'B':
  default:
    return -1;
  }
}

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  int x = weigh(d[0]), y = weigh(d[1]);
  if (x == 7 && y == 31)
    hit();
  return tell((unsigned)(x * 64 + y));
}
