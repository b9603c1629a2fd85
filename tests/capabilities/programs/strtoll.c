// Exercises: strtoll
// Input: stdin; seed: 41*7
// Solution: 2d 37*6
#include "capability.h"

int main(void) {
  char d[8];
  take_text(d, sizeof d);
  long long x = strtoll(d, NULL, 10);
  if (x == -777777)
    hit();
  return tell((unsigned long long)x);
}
