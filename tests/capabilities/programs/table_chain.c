// Exercises: a computed table whose entry is the index of the next read
// Input: stdin; seed: 4141
// Solution: 32fa
#include "capability.h"

static uint8_t table[256];

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  for (unsigned i = 0; i < 256; i++)
    table[i] = (uint8_t)(i * 181 + 11);
  uint8_t x = table[table[d[0]] ^ d[1]];
  if (x == 118 && d[1] == 250)
    hit();
  return tell(x);
}
