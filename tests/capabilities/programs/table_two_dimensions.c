// Exercises: a table of two dimensions, each index a byte
// Input: stdin; seed: 4141
// Solution: 0d06
#include "capability.h"

static uint16_t table[16][16];

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  for (unsigned i = 0; i < 16; i++)
    for (unsigned k = 0; k < 16; k++)
      table[i][k] = (uint16_t)(i * 4099 + k * 257);
  uint16_t x = table[d[0] & 15][d[1] & 15];
  if (x == 13 * 4099 + 6 * 257)
    hit();
  return tell(x);
}
