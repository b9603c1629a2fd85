// Exercises: strings of wide characters
// Input: stdin; seed: 41*12
// Solution: e40000001604000078000000
#include "capability.h"

#include <wchar.h>

int main(void) {
  wchar_t d[4] = {0};
  take(d, 12);
  if (wcscmp(d, L"\u00e4\u0416x") == 0)
    hit();
  return tell(wcslen(d) == 3);
}
