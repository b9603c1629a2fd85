// Exercises: sprintf of 64-bit numbers, signed, octal and hexadecimal
// Input: stdin; seed: 41*8
// Solution: 00f2052a01000000
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  char text[80];
  take(d, sizeof d);
  sprintf(text, "%lld %lX", (long long)load64(d), (unsigned long)load64(d));
  if (strcmp(text, "5000000000 12A05F200") == 0)
    hit();
  return tell(strlen(text));
}
