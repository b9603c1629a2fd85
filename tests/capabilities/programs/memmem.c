// Exercises: memmem
// Input: stdin; seed: 41*20
// Solution: 41*6 6e6565646c65 41*8
#include "capability.h"

int main(void) {
  uint8_t d[20] = {0};
  take(d, sizeof d);
  const uint8_t *at = memmem(d, sizeof d, "needle", 6);
  if (at && at - d == 6)
    hit();
  return tell(at != NULL);
}
