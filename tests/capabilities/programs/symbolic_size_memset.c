// Exercises: the size of a fill is an input value
// Input: stdin; seed: 4141
// Solution: 2c01
#include "capability.h"

int main(void) {
  static uint8_t room[65536];
  uint8_t d[2] = {0};
  take(d, sizeof d);
  size_t size = load16(d);
  if (size > 300)
    return 1;
  memset(room, 'm', size);
  if (room[299] == 'm')
    hit();
  return tell(size);
}
