// Exercises: a computed table read at a negative index
// Input: stdin; seed: 41
// Solution: b0
#include "capability.h"

static uint16_t table[256];

int main(void) {
  signed char d[1] = {0};
  take(d, sizeof d);
  for (unsigned i = 0; i < 256; i++)
    table[i] = (uint16_t)(i * i * 3);
  const uint16_t *middle = table + 128;
  uint16_t x = middle[d[0]];
  if (x == 48 * 48 * 3)
    hit();
  return tell(x);
}
