// Exercises: fma, which rounds once
// Input: stdin; seed: 41*8
// Solution: 030000000000f03f
#include "capability.h"

#include <math.h>

int main(void) {
  double x = 0;
  take(&x, sizeof x);
  if (x > 0.5 && x < 2 && fma(x, x, -1.0) == 0x1.8000000000002p-50)
    hit();
  return tell(x > 1.0);
}
