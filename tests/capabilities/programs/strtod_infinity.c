// Exercises: strtod of an infinity and of what is no number
// Input: stdin; seed: 41*8
// Solution: 2d696e66 006e616e
#include "capability.h"

#include <math.h>

int main(void) {
  char d[9];
  take_text(d, sizeof d);
  d[4] = 0;
  double x = strtod(d, NULL), y = strtod(d + 5, NULL);
  if (isinf(x) && x < 0 && isnan(y))
    hit();
  return tell(x > 1.0);
}
