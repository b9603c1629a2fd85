// Exercises: a table read at an index of two bytes, somewhere inside
// Input: stdin; seed: 4141
// Solution: d204
#include "capability.h"

static uint32_t table[4096];

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  for (uint32_t i = 0; i < 4096; i++)
    table[i] = i * 2654435761u;
  uint32_t x = table[load16(d) & 4095];
  if (x == 1234 * 2654435761u)
    hit();
  return tell(x);
}
