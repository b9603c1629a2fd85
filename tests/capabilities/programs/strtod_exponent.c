// Exercises: strtod with an exponent
// Input: stdin; seed: 31*6
// Solution: 362e32356537
#include "capability.h"

int main(void) {
  char d[7], *end;
  take_text(d, sizeof d);
  double x = strtod(d, &end);
  if (x == 62500000.0 && *end == 0 && d[1] == '.')
    hit();
  return tell(x > 1.0);
}
