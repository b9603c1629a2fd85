// Exercises: strtol below its range
// Input: stdin; seed: 31*22
// Solution: 2d 39*21
#include "capability.h"

#include <errno.h>

int main(void) {
  char d[23];
  take_text(d, sizeof d);
  errno = 0;
  long x = strtol(d, NULL, 10);
  if (errno == ERANGE && x == INT64_MIN)
    hit();
  return tell((unsigned long)x);
}
