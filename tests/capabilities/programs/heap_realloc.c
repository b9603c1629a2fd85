// Exercises: bytes that move with realloc
// Input: stdin; seed: 41*8
// Solution: efbe 30*5 68
#include "capability.h"

int main(void) {
  uint8_t *p = malloc(8), *q;
  if (!p)
    return 1;
  memset(p, 0, 8);
  take(p, 8);
  q = realloc(p, 1 << 20);
  if (!q)
    return 1;
  if (q[7] == 'h' && load16(q) == 0xbeef)
    hit();
  int status = tell(q[7]);
  free(q);
  return status;
}
