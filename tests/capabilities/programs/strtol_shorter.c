// Exercises: a number that needs fewer digits than its text has
// Input: stdin; seed: 31*9 3b 41
// Solution: 2d37 3b41
#include "capability.h"

int main(void) {
  char d[33], *end;
  take_text(d, sizeof d);
  long x = strtol(d, &end, 10);
  if (x < -5 && x > -9 && end - d == 2 && strcmp(end, ";A") == 0)
    hit();
  return tell((unsigned long)x);
}
