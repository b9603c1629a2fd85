// Exercises: strchr
// Input: stdin; seed: 41*12
// Solution: 41*6 3d31 41*4
#include "capability.h"

int main(void) {
  char d[13];
  take_text(d, sizeof d);
  const char *at = strchr(d, '=');
  if (at && at - d == 6 && at[1] == '1')
    hit();
  return tell(at != NULL);
}
