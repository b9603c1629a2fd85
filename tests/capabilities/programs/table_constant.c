// Exercises: a constant table read at an input value
// Input: stdin; seed: 41
// Solution: 63
#include "capability.h"

static const uint8_t table[256] = {[17] = 3, [99] = 200, [140] = 17};

int main(void) {
  uint8_t d[1] = {0};
  take(d, sizeof d);
  if (table[d[0]] == 200)
    hit();
  return tell(table[d[0]]);
}
