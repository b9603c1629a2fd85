// Exercises: atoi
// Input: stdin; seed: 41*6
// Solution: 2d3331333337
#include "capability.h"

int main(void) {
  char d[7];
  take_text(d, sizeof d);
  int x = atoi(d);
  if (x == -31337)
    hit();
  return tell((unsigned)x);
}
