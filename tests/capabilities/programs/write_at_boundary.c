// Exercises: a write at an index of four bytes, the last one of the array
// Input: stdin; seed: 41*4
// Solution: 9f860100
#include "capability.h"

static uint8_t room[100000];

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t index = load32(d);
  if (index >= sizeof room)
    return 1;
  room[index] = 1;
  if (room[sizeof room - 1])
    hit();
  return tell(index);
}
