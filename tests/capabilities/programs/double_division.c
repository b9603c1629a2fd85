// Exercises: division of doubles
// Input: stdin; seed: 41*8
// Solution: 00*6 3440
#include "capability.h"

int main(void) {
  double x = 0;
  take(&x, sizeof x);
  if (x > 0 && 1.0 / x == 0.05)
    hit();
  return tell(x > 1.0);
}
