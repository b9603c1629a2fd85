// Exercises: two numbers one behind the other
// Input: stdin; seed: 31 20 32 0a
// Solution: 34303936 20 3830 0a
#include "capability.h"

int main(void) {
  char d[33], *end;
  take_text(d, sizeof d);
  unsigned long a = strtoul(d, &end, 10), b = strtoul(end, &end, 10);
  if (a == 4096 && b == 80 && *end == '\n')
    hit();
  return tell(a * 3 + b);
}
