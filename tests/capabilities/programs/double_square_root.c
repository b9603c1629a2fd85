// Exercises: square root
// Input: stdin; seed: 41*8
// Solution: 00*4 443c3741
#include "capability.h"

#include <math.h>

int main(void) {
  double x = 0;
  take(&x, sizeof x);
  if (sqrt(x) == 1234.0)
    hit();
  return tell(x > 1.0);
}
