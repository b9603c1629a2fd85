// Exercises: strtoumax of a large number
// Input: stdin; seed: 30*20
// Solution: 3132333334343637343430373337303935353136
#include "capability.h"

#include <inttypes.h>

int main(void) {
  char d[21], *end;
  take_text(d, sizeof d);
  uintmax_t n = strtoumax(d, &end, 10);
  if (n == 12334467440737095516u)
    hit();
  return tell(n);
}
