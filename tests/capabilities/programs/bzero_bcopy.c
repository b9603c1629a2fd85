// Exercises: bzero and bcopy
// Input: stdin; seed: 41*8
// Solution: 414162636f704141
#include "capability.h"

#include <strings.h>

int main(void) {
  uint8_t d[8] = {0}, to[8];
  take(d, sizeof d);
  bzero(to, sizeof to);
  bcopy(d + 2, to + 1, 4);
  bzero(d, sizeof d);
  if (load64(to) == 0x706f636200u)
    hit();
  return tell(to[1] + d[0]);
}
