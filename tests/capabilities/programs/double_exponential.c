// Exercises: exp, log and pow
// Input: stdin; seed: 41*8
// Solution: 00*6 0840
#include "capability.h"

#include <math.h>

int main(void) {
  double x = 0;
  take(&x, sizeof x);
  if (exp(x) > 20.0855369 && exp(x) < 20.0855370 && pow(2.0, x) > 7.99999 && log(x) > 1.0986)
    hit();
  return tell(x > 1.0);
}
