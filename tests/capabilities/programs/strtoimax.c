// Exercises: strtoimax of hexadecimal digits
// Input: stdin; seed: 61*8
// Solution: 3078316632652c39
#include "capability.h"

#include <inttypes.h>

int main(void) {
  char d[9], *end;
  take_text(d, sizeof d);
  intmax_t n = strtoimax(d, &end, 0);
  if (n == 0x1f2e && *end == ',')
    hit();
  return tell((uintmax_t)n);
}
