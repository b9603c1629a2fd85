// Exercises: a comparison of vectors of bytes as a mask
// Input: stdin; seed: 41*8
// Solution: 01c803c8c80607c8
#include "capability.h"

typedef uint8_t vector __attribute__((vector_size(8)));

int main(void) {
  vector x = {0};
  take(&x, sizeof x);
  vector mask = (vector)(x == 200);
  uint64_t bits;
  memcpy(&bits, &mask, sizeof bits);
  if (bits == 0xff0000ffff00ff00u)
    hit();
  return tell(bits);
}
