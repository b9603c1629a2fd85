// Exercises: each class of ctype.h
// Input: stdin; seed: 80*11
// Solution: 3751712001096621673020
#include "capability.h"

#include <ctype.h>

int main(void) {
  uint8_t d[11] = {0};
  take(d, sizeof d);
  if (isdigit(d[0]) && isupper(d[1]) && islower(d[2]) && isspace(d[3]) && iscntrl(d[4]) &&
      isblank(d[5]) && isxdigit(d[6]) && ispunct(d[7]) && isalpha(d[8]) && isalnum(d[9]) &&
      isprint(d[10]) && !isgraph(d[10]))
    hit();
  return tell(isalpha(d[0]) != 0);
}
