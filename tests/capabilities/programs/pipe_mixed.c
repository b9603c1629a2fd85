// Exercises: a pipe that holds other bytes beside those of the input
// Input: stdin; seed: 41*4
// Solution: 70697065
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0}, back[8] = {0};
  take(d, sizeof d);
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], "<<", 2) != 2 || write(ends[1], d, 4) != 4 ||
      write(ends[1], ">>", 2) != 2 || read(ends[0], back, 3) != 3 ||
      read(ends[0], back + 3, 5) != 5)
    return 1;
  if (load32(back + 2) == 0x65706970)
    hit();
  return tell(back[2]);
}
