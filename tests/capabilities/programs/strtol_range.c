// Exercises: strtol beyond its range
// Input: stdin; seed: 31*20
// Solution: 39*20
#include "capability.h"

#include <errno.h>

int main(void) {
  char d[21];
  take_text(d, sizeof d);
  errno = 0;
  long x = strtol(d + 1, NULL, 10);
  if (errno == ERANGE && x == INT64_MAX && d[0] == '9')
    hit();
  return tell((unsigned long)x);
}
