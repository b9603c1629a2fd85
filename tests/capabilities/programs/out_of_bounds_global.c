// Exercises: an index that runs one past an array of a global
// Input: stdin; seed: 41*4
// Solution: 58020000
#include "capability.h"

static struct {
  uint8_t name[600];
  uint8_t privileged;
} record;

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  unsigned index = load32(d);
  if (index > 600)
    return 1;
  ((uint8_t *)&record)[index] = 1;
  if (record.privileged)
    hit();
  return tell(index);
}
