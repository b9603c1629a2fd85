// Exercises: Newton's iteration for a square root, in a loop
// Input: stdin; seed: 41*8
// Solution: 00*4 00107840
#include "capability.h"

int main(void) {
  double x = 0;
  take(&x, sizeof x);
  if (!(x >= 1 && x <= 1e6))
    return 1;
  double root = x;
  for (int i = 0; i < 20; i++)
    root = (root + x / root) / 2;
  if (root > 19.62 && root < 19.63)
    hit();
  return tell(root > 1.0);
}
