// Exercises: strncasecmp
// Input: stdin; seed: 41*9
// Solution: 686f53543a20414141
#include "capability.h"

#include <strings.h>

int main(void) {
  char d[10];
  take_text(d, sizeof d);
  if (strncasecmp(d, "Host: ", 6) == 0 && d[2] == 'S')
    hit();
  return tell(strncasecmp(d, "Host", 4) < 0);
}
