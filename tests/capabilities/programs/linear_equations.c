// Exercises: four linear equations over four bytes at once
// Input: stdin; seed: 41*4
// Solution: 0b16212c
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  unsigned w = d[0], x = d[1], y = d[2], z = d[3];
  unsigned differs = (3 * w + 5 * x + 7 * y + 11 * z) ^ (33 + 110 + 231 + 484);
  differs |= (13 * w + 2 * x + y + 9 * z) ^ (143 + 44 + 33 + 396);
  differs |= (w + 17 * x + 4 * y + z) ^ (11 + 374 + 132 + 44);
  differs |= (6 * w + x + 19 * y + 3 * z) ^ (66 + 22 + 627 + 132);
  if (differs == 0)
    hit();
  return tell(differs);
}
