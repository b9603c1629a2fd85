// Exercises: a table that begins at the letter a
// Input: stdin; seed: 41
// Solution: 74
#include "capability.h"

static const int16_t letters[26] = {[4] = -7, [19] = 1234};

int main(void) {
  uint8_t d[1] = {0};
  take(d, sizeof d);
  if (d[0] < 'a' || d[0] > 'z')
    return 1;
  int16_t x = letters[d[0] - 'a'];
  if (x == 1234)
    hit();
  return tell((uint16_t)x);
}
