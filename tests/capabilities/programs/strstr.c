// Exercises: strstr
// Input: stdin; seed: 41*16
// Solution: 41*4 6b65793a 41*8
#include "capability.h"

int main(void) {
  char d[17];
  take_text(d, sizeof d);
  const char *at = strstr(d, "key:");
  if (at && at - d == 4)
    hit();
  return tell(at != NULL);
}
