// Exercises: the size of a move within one buffer is an input value
// Input: stdin; seed: 41
// Solution: 64
#include "capability.h"

int main(void) {
  static uint8_t room[512];
  uint8_t d[1] = {0};
  take(d, sizeof d);
  for (unsigned i = 0; i < sizeof room; i++)
    room[i] = (uint8_t)(i / 4);
  memmove(room + 8, room, d[0]);
  if (room[107] == 24 && room[108] == 27)
    hit();
  return tell(room[107]);
}
