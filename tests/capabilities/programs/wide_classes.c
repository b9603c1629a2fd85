// Exercises: classes and cases of wide characters
// Input: stdin; seed: 30*3
// Solution: 517139
#include "capability.h"

#include <wctype.h>

int main(void) {
  char d[4] = "";
  take_text(d, sizeof d);
  wint_t a = (unsigned char)d[0], b = (unsigned char)d[1], c = (unsigned char)d[2];
  if (iswupper(a) && towlower(a) == L'q' && iswalpha(b) && towupper(b) == L'Q' && iswdigit(c) &&
      c == L'9')
    hit();
  return tell(a);
}
