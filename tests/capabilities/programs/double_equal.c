// Exercises: equality of a double
// Input: stdin; seed: 41*8
// Solution: 5839b4c8d61cc8c0
#include "capability.h"

int main(void) {
  double x = 0;
  take(&x, sizeof x);
  if (x == -12345.678)
    hit();
  return tell(x > 1.0);
}
