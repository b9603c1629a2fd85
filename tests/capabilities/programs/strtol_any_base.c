// Exercises: strtol with the base from the prefix
// Input: stdin; seed: 41*6
// Solution: 307837626541
#include "capability.h"

int main(void) {
  char d[7];
  take_text(d, sizeof d);
  long x = strtol(d, NULL, 0);
  if (x == 0x7bea)
    hit();
  return tell((unsigned long)x);
}
