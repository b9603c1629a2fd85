// Exercises: vectors of doubles: arithmetic, comparison, choice
// Input: stdin; seed: 41*16
// Solution: 00*6 f03f 00*6 00c0
#include "capability.h"

typedef double vector __attribute__((vector_size(16)));
typedef int64_t mask __attribute__((vector_size(16)));

int main(void) {
  vector x = {0};
  take(&x, sizeof x);
  vector y = x + (vector){2.0, 4.0};
  mask larger = y > x * 2.5;
  if (y[0] == 3.0 && y[1] == 2.0 && larger[0] && larger[1])
    hit();
  return tell(y[0] > 1.0);
}
