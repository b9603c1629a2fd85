// Exercises: a comparison that holds only for a value that is not a number
// Input: stdin; seed: 41*4
// Solution: 3412c07f
#include "capability.h"

int main(void) {
  float x = 0;
  take(&x, sizeof x);
  if (x != x)
    hit();
  return tell(x > 1.0f);
}
