// Exercises: reductions of a vector to its largest element and to a mask
// Input: stdin; seed: 41*16
// Solution: 41*11 c8 41*4
#include "capability.h"

typedef uint8_t vector __attribute__((vector_size(16)));

int main(void) {
  vector x = {0};
  take(&x, sizeof x);
  unsigned largest = __builtin_reduce_max(x);
  if (largest == 200 && x[11] == 200)
    hit();
  return tell(largest);
}
