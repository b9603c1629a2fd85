// Exercises: vectors of floats that become integers
// Input: stdin; seed: 41*16
// Solution: 0000404000008040 000000c1 00004842
#include "capability.h"

typedef float floats __attribute__((vector_size(16)));
typedef int32_t integers __attribute__((vector_size(16)));

int main(void) {
  floats x = {0};
  take(&x, sizeof x);
  for (int i = 0; i < 4; i++)
    if (!(x[i] > -1e6f && x[i] < 1e6f))
      return 1;
  integers y = __builtin_convertvector(x, integers);
  if (y[0] == 3 && y[1] == 4 && y[2] == -8 && y[3] == 50)
    hit();
  return tell((uint64_t)y[0]);
}
