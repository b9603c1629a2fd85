// Exercises: memory that is freed, given again, and cleared by calloc
// Input: stdin; seed: 41*8
// Solution: 6b65657042000000
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint8_t *p = malloc(40);
  if (!p)
    return 1;
  memcpy(p, d, sizeof d);
  volatile uint8_t seen = p[4];
  free(p);
  uint8_t *q = calloc(5, 8);
  if (!q)
    return 1;
  memcpy(q, d, 4);
  if (q[4] == 0 && load32(q) == 0x7065656b && seen == 'B')
    hit();
  free(q);
  return tell(seen);
}
