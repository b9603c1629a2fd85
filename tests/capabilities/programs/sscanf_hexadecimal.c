// Exercises: sscanf %x
// Input: stdin; seed: 41*7
// Solution: 23633066666565
#include "capability.h"

int main(void) {
  char d[8];
  take_text(d, sizeof d);
  unsigned x = 0;
  if (sscanf(d, "#%x", &x) == 1 && x == 0xc0ffee)
    hit();
  return tell(x);
}
