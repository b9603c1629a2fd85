// Exercises: frexp, ldexp and modf, which take numbers apart and put them together
// Input: stdin; seed: 41*8
// Solution: 00*6 2940
#include "capability.h"

#include <math.h>

int main(void) {
  double x = 0, whole;
  take(&x, sizeof x);
  int exponent;
  double fraction = frexp(x, &exponent);
  if (exponent == 4 && fraction == 0.78125 && modf(x, &whole) == 0.5 && whole == 12.0 &&
      ldexp(x, 3) == 100.0)
    hit();
  return tell(x > 1.0);
}
