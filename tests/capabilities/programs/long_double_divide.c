// Exercises: division and comparison of long doubles
// Input: stdin; seed: 41*10
// Solution: 00*7 c00140
#include "capability.h"

int main(void) {
  long double x = 0;
  take(&x, 10);
  if (x > 1 && 21.0L / x == 3.5L && -x < -5.5L)
    hit();
  return tell(x > 1.0L);
}
