// Exercises: bcmp
// Input: stdin; seed: 41*6
// Solution: 474946383961
#include "capability.h"

#include <strings.h>

int main(void) {
  uint8_t d[6] = {0};
  take(d, sizeof d);
  if (bcmp(d, "GIF89a", 6) == 0)
    hit();
  return tell(d[0]);
}
