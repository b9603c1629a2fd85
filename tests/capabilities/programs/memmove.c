// Exercises: memmove of overlapping bytes
// Input: stdin; seed: 41*8
// Solution: 6f7665726c617021
#include "capability.h"

int main(void) {
  uint8_t d[16] = {0};
  take(d, 8);
  memmove(d + 3, d, 8);
  memmove(d, d + 3, 8);
  if (memcmp(d, "overlap!ap!", 11) == 0)
    hit();
  return tell(d[0]);
}
