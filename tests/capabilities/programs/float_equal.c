// Exercises: equality of a float
// Input: stdin; seed: 41*4
// Solution: 00005040
#include "capability.h"

int main(void) {
  float x = 0;
  take(&x, sizeof x);
  if (x == 3.25f)
    hit();
  return tell(x > 1.0f);
}
