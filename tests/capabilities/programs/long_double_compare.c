// Exercises: equality of a long double
// Input: stdin; seed: 41*10
// Solution: 00*7 a00040
#include "capability.h"

int main(void) {
  long double x = 0;
  take(&x, 10);
  if (x == 2.5L)
    hit();
  return tell(x > 1.0L);
}
