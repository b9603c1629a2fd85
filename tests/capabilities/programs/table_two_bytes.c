// Exercises: a table read at an index of two bytes, its last valid one
// Input: stdin; seed: 4141
// Solution: ff0b
#include "capability.h"

static uint32_t table[3072];

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  for (uint32_t i = 0; i < 3072; i++)
    table[i] = i * 2654435761u;
  unsigned index = load16(d);
  if (index >= 3072)
    return 1;
  if (table[index] == 3071 * 2654435761u)
    hit();
  return tell(table[index]);
}
