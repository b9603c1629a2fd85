// Exercises: fgetwc
// Input: stdin; seed: 41*3
// Solution: 773a43
#include "capability.h"

#include <wchar.h>

int main(void) {
  wint_t a = fgetwc(stdin), b = fgetwc(stdin), c = getwchar();
  if (a == L'w' && b == L':' && c == L'C')
    hit();
  return tell(a);
}
