// Exercises: lrint, lround, llrint, llround
// Input: stdin; seed: 41*8
// Solution: 00*5 905e40
#include "capability.h"

#include <math.h>

int main(void) {
  double x = 0;
  take(&x, sizeof x);
  if (lrint(x) == 122 && lround(x) == 122 && llrint(x + 0.25) == 122 && llround(x + 0.25) == 123)
    hit();
  return tell(x > 1.0);
}
