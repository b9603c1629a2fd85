// Exercises: strtoul of hexadecimal digits
// Input: stdin; seed: 41*8
// Solution: 6465616462656566
#include "capability.h"

int main(void) {
  char d[9];
  take_text(d, sizeof d);
  unsigned long x = strtoul(d, NULL, 16);
  if (x == 0xdeadbeef)
    hit();
  return tell(x);
}
