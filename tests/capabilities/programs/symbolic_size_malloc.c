// Exercises: the size of an allocation is an input value
// Input: stdin; seed: 4141
// Solution: 409c
#include "capability.h"

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  size_t size = load16(d);
  uint8_t *p = malloc(size + 1);
  if (!p)
    return 1;
  memset(p, 7, size + 1);
  unsigned last = p[size];
  free(p);
  if (size + last == 40007)
    hit();
  return tell(size + last);
}
