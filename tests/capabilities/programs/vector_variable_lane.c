// Exercises: a vector element at an index of the input
// Input: stdin; seed: 41*9
// Solution: 05 00*5 d90000
#include "capability.h"

typedef uint8_t vector __attribute__((vector_size(8)));

int main(void) {
  uint8_t lane = 0;
  vector x = {0};
  take(&lane, 1);
  take(&x, sizeof x);
  uint8_t y = x[lane & 7];
  if (y == 217 && (lane & 7) == 5)
    hit();
  return tell(y);
}
