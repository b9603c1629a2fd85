// Exercises: strtoul of a negative number, and of none
// Input: stdin; seed: 41*5
// Solution: 2d31 41*3
#include "capability.h"

int main(void) {
  char d[6], *end;
  take_text(d, sizeof d);
  unsigned long x = strtoul(d, &end, 10);
  if (x == UINT64_MAX && end != d)
    hit();
  return tell(x);
}
