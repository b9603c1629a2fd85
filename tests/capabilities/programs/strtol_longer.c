// Exercises: a number that needs more digits than its text has
// Input: stdin; seed: 31 0a 41 42
// Solution: 31323334353637 0a 4142
#include "capability.h"

int main(void) {
  char d[33];
  take_text(d, sizeof d);
  char *end;
  long x = strtol(d, &end, 10);
  if (x == 1234567 && end[0] == '\n' && end[1] == 'A')
    hit();
  return tell((unsigned long)x);
}
