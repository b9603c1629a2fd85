// Exercises: strcasecmp
// Input: stdin; seed: 41*9
// Solution: 48654c4c6f00414141
#include "capability.h"

#include <strings.h>

int main(void) {
  char d[10];
  take_text(d, sizeof d);
  if (strcasecmp(d, "hello") == 0 && d[0] == 'H' && d[1] == 'e')
    hit();
  return tell(strcasecmp(d, "hello") < 0);
}
