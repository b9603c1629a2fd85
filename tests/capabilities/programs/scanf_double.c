// Exercises: scanf of a floating-point number from standard input
// Input: stdin; seed: 31*8
// Solution: 31322e3632350a0a
#include "capability.h"

int main(void) {
  double x = 0;
  if (scanf("%lf", &x) == 1 && x > 12.5 && x < 12.75)
    hit();
  return tell(x > 0);
}
