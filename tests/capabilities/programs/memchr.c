// Exercises: memchr
// Input: stdin; seed: 41*16
// Solution: 41*11 23 41*4
#include "capability.h"

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  const uint8_t *at = memchr(d, '#', sizeof d);
  if (at && at - d == 11)
    hit();
  return tell(at != NULL);
}
