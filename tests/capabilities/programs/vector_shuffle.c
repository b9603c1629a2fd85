// Exercises: a shuffle of vectors
// Input: stdin; seed: 41*16
// Solution: 44000000330000002200000011000000
#include "capability.h"

typedef uint32_t vector __attribute__((vector_size(16)));

int main(void) {
  vector x = {0};
  take(&x, sizeof x);
  vector y = __builtin_shufflevector(x, (vector){5, 6, 7, 8}, 3, 2, 1, 4);
  y += __builtin_shufflevector(x, x, 3, 3, 3, 0);
  if (y[0] == 0x22 && y[1] == 0x33 && y[2] == 0x44 && y[3] == 0x49)
    hit();
  return tell(y[0]);
}
