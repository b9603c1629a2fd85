// Exercises: addition and product of vectors of integers
// Input: stdin; seed: 41*16
// Solution: 5d000000ba0000001701000074010000
#include "capability.h"

typedef uint32_t vector __attribute__((vector_size(16)));

int main(void) {
  vector x = {0};
  take(&x, sizeof x);
  vector y = x * 3 + (vector){1, 2, 3, 4};
  if (y[0] == 280 && y[1] == 560 && y[2] == 840 && y[3] == 1120)
    hit();
  return tell(y[0]);
}
