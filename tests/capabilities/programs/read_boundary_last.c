// Exercises: a read at an index of four bytes, the last valid one
// Input: stdin; seed: 41*4
// Solution: 9e860100
#include "capability.h"

static uint8_t room[100000];

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t index = load32(d);
  room[99999] = 0x5a;
  if (index > 99998)
    return 1;
  if (room[index + 1] == 0x5a)
    hit();
  return tell(room[index + 1]);
}
