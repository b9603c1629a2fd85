// Exercises: a character of four bytes in UTF-8
// Input: stdin; seed: 41*4
// Solution: f09fa680
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = d[0];
  unsigned more = x >= 0xf0 ? 3 : x >= 0xe0 ? 2 : x >= 0xc0 ? 1 : 0;
  if (more)
    x &= 0x3fu >> more;
  for (unsigned i = 1; i <= more; i++) {
    if ((d[i] & 0xc0) != 0x80)
      return 1;
    x = x << 6 | (d[i] & 0x3f);
  }
  if (x == 0x1f980)
    hit();
  return tell(x);
}
