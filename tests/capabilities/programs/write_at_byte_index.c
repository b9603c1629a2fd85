// Exercises: a write at an index of one byte
// Input: stdin; seed: 41
// Solution: 4d
#include "capability.h"

int main(void) {
  uint8_t d[1] = {0}, room[256] = {0};
  take(d, sizeof d);
  room[d[0]] = 1;
  if (room[77])
    hit();
  return tell(room[78]);
}
