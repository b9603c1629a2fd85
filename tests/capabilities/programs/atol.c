// Exercises: atol
// Input: stdin; seed: 31*11
// Solution: 3039383736353433323130
#include "capability.h"

int main(void) {
  char d[12];
  take_text(d, sizeof d);
  long x = atol(d);
  if (x == 9876543210)
    hit();
  return tell((unsigned long)x);
}
