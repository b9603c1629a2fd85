// Exercises: comparisons that hold for what is no number: isunordered, isgreater, islessgreater
// Input: stdin; seed: 41*16
// Solution: 00*6 f87f 00*6 f03f
#include "capability.h"

#include <math.h>

int main(void) {
  double x[2] = {0};
  take(x, sizeof x);
  if (isunordered(x[0], x[1]) && !islessgreater(x[0], x[1]) && !(x[0] <= x[1]) && x[1] == 1.0)
    hit();
  return tell(isgreater(x[0], x[1]));
}
