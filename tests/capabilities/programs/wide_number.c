// Exercises: bytes to wide characters and a number in them
// Input: stdin; seed: 41*6
// Solution: 2d34303936 41
#include "capability.h"

#include <wchar.h>

int main(void) {
  char d[7];
  wchar_t wide[8] = {0};
  take_text(d, sizeof d);
  if (mbstowcs(wide, d, 7) == (size_t)-1)
    return 1;
  long x = wcstol(wide, NULL, 10);
  if (x == -4096)
    hit();
  return tell((unsigned long)x);
}
