// Exercises: strpbrk
// Input: stdin; seed: 41*10
// Solution: 41414126 41*6
#include "capability.h"

int main(void) {
  char d[11];
  take_text(d, sizeof d);
  const char *at = strpbrk(d, ";&|");
  if (at && at - d == 3 && *at == '&')
    hit();
  return tell(at != NULL);
}
