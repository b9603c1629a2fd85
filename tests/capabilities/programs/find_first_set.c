// Exercises: ffs
// Input: stdin; seed: 41*4
// Solution: 00004000
#include "capability.h"

#include <strings.h>

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  int x = ffs((int)load32(d));
  if (x == 23)
    hit();
  return tell((unsigned)x);
}
