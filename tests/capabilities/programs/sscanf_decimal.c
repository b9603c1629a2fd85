// Exercises: sscanf %d
// Input: stdin; seed: 41*8
// Solution: 763d2d343234323b
#include "capability.h"

int main(void) {
  char d[9];
  take_text(d, sizeof d);
  int x = 0;
  if (sscanf(d, "v=%d", &x) == 1 && x == -4242)
    hit();
  return tell((unsigned)x);
}
