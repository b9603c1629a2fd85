// Exercises: a read at an index of four bytes, the first valid one
// Input: stdin; seed: 41*4
// Solution: e8030000
#include "capability.h"

static uint8_t room[100000];

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  int32_t index = (int32_t)load32(d);
  room[0] = 0x3c;
  if (index < 1000 || index > 100000)
    return 1;
  if (room[index - 1000] == 0x3c)
    hit();
  return tell(room[index - 1000]);
}
