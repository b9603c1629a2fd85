// Exercises: searches in a string of wide characters
// Input: stdin; seed: 41*16
// Solution: 61000000 6b000000 7a000000 00000000
#include "capability.h"

#include <wchar.h>

int main(void) {
  wchar_t d[5] = {0};
  take(d, 16);
  const wchar_t *k = wcschr(d, L'k');
  if (k && wcsncmp(k, L"kz", 2) == 0 && wcslen(d) == 3)
    hit();
  return tell(k != NULL);
}
