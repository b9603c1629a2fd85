// Exercises: base 64: a table of digits and groups of bits
// Input: stdin; seed: 41*8
// Solution: 6332566a63673d3d
#include "capability.h"

static int digit(char c) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = c ? strchr(digits, c) : NULL;
  return at ? (int)(at - digits) : -1;
}

int main(void) {
  char d[9], out[7] = {0};
  take_text(d, sizeof d);
  unsigned bits = 0, count = 0, size = 0;
  for (const char *p = d; *p && *p != '='; p++) {
    int x = digit(*p);
    if (x < 0)
      return 1;
    bits = (bits << 6 | (unsigned)x) & 0xfffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out[size++] = (char)(bits >> count);
    }
  }
  if (size == 4 && memcmp(out, "secr", 4) == 0)
    hit();
  return tell(size);
}
