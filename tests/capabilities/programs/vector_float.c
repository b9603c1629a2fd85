// Exercises: vectors of floats
// Input: stdin; seed: 41*16
// Solution: 0000c03f000020400000604000009040
#include "capability.h"

typedef float vector __attribute__((vector_size(16)));

int main(void) {
  vector x = {0};
  take(&x, sizeof x);
  vector y = x * 2.0f;
  if (y[0] == 3.0f && y[1] == 5.0f && y[2] == 7.0f && y[3] == 9.0f)
    hit();
  return tell(y[0] > 1.0f);
}
