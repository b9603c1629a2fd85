// Exercises: sum and difference of doubles of the input
// Input: stdin; seed: 41*16
// Solution: 00*6 2440 00*6 1440
#include "capability.h"

int main(void) {
  double x[2] = {0};
  take(x, sizeof x);
  if (x[0] + x[1] == 15.0 && x[0] - x[1] == 5.0)
    hit();
  return tell(x[0] > x[1]);
}
