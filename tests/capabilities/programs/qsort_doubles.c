// Exercises: doubles that qsort puts in order
// Input: stdin; seed: 41*16
// Solution: 00*6 1040 00*6 0040
#include "capability.h"

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(void) {
  double x[3] = {0, 0, 3.0};
  take(x, 16);
  qsort(x, 3, sizeof *x, compare);
  if (x[0] == 2.0 && x[1] == 3.0 && x[2] == 4.0)
    hit();
  return tell(x[0] < x[1]);
}
