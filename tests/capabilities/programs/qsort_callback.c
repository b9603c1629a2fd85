// Exercises: a comparison function that qsort calls
// Input: stdin; seed: 41*5
// Solution: 5a0a321e46
#include "capability.h"

static unsigned calls;

static int compare(const void *a, const void *b) {
  const uint8_t *x = a, *y = b;
  calls++;
  return *x < *y ? -1 : *x > *y;
}

int main(void) {
  uint8_t d[5] = {0}, sorted[5];
  take(d, sizeof d);
  memcpy(sorted, d, sizeof d);
  qsort(sorted, sizeof sorted, 1, compare);
  if (sorted[0] == d[1] && sorted[1] == d[3] && sorted[2] == d[2] && sorted[3] == d[4] &&
      sorted[4] == d[0] && d[0] != d[4] && d[4] != d[2] && d[2] != d[3] && d[3] != d[1])
    hit();
  return tell(calls);
}
