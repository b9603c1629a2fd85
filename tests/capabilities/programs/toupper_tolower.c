// Exercises: toupper and tolower
// Input: stdin; seed: 41*6
// Solution: 71556555655a
#include "capability.h"

#include <ctype.h>

int main(void) {
  uint8_t d[6] = {0};
  take(d, sizeof d);
  if (toupper(d[0]) == 'Q' && d[0] != 'Q' && tolower(d[5]) == 'z' && d[5] == 'Z' &&
      tolower(d[1]) + toupper(d[2]) == 'u' + 'E')
    hit();
  return tell((unsigned)toupper(d[0]));
}
