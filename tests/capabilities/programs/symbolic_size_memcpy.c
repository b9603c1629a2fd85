// Exercises: the size of a copy is an input value; what lies at its end shows
// Input: stdin; seed: 41
// Solution: c8
#include "capability.h"

int main(void) {
  static uint8_t from[256], to[256];
  uint8_t d[1] = {0};
  take(d, sizeof d);
  memset(from, 1, sizeof from);
  memcpy(to, from, d[0]);
  if (to[199] == 1 && to[200] == 0)
    hit();
  return tell(to[199]);
}
