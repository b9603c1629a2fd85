// Exercises: hexadecimal digits that are looked up by strchr in a constant string
// Input: stdin; seed: 41*6
// Solution: 62614463356f
#include "capability.h"

int main(void) {
  static const char digits[] = "0123456789abcdefABCDEF";
  char d[7];
  unsigned x = 0;
  take_text(d, sizeof d);
  for (unsigned i = 0; i < 5; i++) {
    const char *at = d[i] ? strchr(digits, d[i]) : NULL;
    if (!at)
      return 1;
    unsigned digit = (unsigned)(at - digits);
    x = x << 4 | (digit > 15 ? digit - 6 : digit);
  }
  if (x == 0xbadc5 && memchr("xyo", d[5], 3) != NULL)
    hit();
  return tell(x);
}
