// Exercises: bytes that go through a pipe and come back
// Input: stdin; seed: 41*4
// Solution: 9e919e91
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0}, back[4] = {0};
  take(d, sizeof d);
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], d, 4) != 4 || read(ends[0], back, 4) != 4)
    return 1;
  if (load32(back) == 0x919e919e)
    hit();
  return tell(back[0]);
}
