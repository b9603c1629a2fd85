// Exercises: a choice between doubles, by their order
// Input: stdin; seed: 41*16
// Solution: 00*6 1040 00*6 0840
#include "capability.h"

int main(void) {
  double x[2] = {0};
  take(x, sizeof x);
  double larger = x[0] > x[1] ? x[0] : x[1], smaller = x[0] > x[1] ? x[1] : x[0];
  if (larger * 2.0 == 8.0 && smaller == 3.0)
    hit();
  return tell(larger > 1.0);
}
