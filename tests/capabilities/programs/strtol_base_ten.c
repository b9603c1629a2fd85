// Exercises: strtol and where it ends
// Input: stdin; seed: 41*8
// Solution: 2d3130303230303b
#include "capability.h"

int main(void) {
  char d[9], *end;
  take_text(d, sizeof d);
  long x = strtol(d, &end, 10);
  if (x == -100200 && *end == ';')
    hit();
  return tell((unsigned long)x);
}
