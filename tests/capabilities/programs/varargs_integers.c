// Exercises: a variadic function with more arguments than registers
// Input: stdin; seed: 41*8
// Solution: fa010203040506ff
#include "capability.h"

#include <stdarg.h>

static NOINLINE int sum(int count, ...) {
  va_list v;
  va_start(v, count);
  int x = 0;
  for (int i = 1; i <= count; i++)
    x += i * va_arg(v, int);
  va_end(v);
  return x;
}

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  int x = sum(8, d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]);
  if (x == 250 + 2 + 6 + 12 + 20 + 30 + 42 + 2040)
    hit();
  return tell((unsigned)x);
}
