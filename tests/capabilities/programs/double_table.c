// Exercises: a table of doubles at an index of the input
// Input: stdin; seed: 41*1
// Solution: 05
#include "capability.h"

static const double table[8] = {0.5, 1.5, 2.25, 3.125, 4.0625, 5.03125, 6.5, 7.75};

int main(void) {
  uint8_t d = 0;
  take(&d, 1);
  double x = table[d & 7] * 2.0;
  if (x == 10.0625)
    hit();
  return tell(x > 6.0);
}
