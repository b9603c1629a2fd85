// Exercises: a read at an index of the input within the input
// Input: stdin; seed: 41*16
// Solution: 0b 41*10 9c 41*4
#include "capability.h"

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  unsigned index = d[0] & 15;
  if (d[index] == 0x9c && index == 11)
    hit();
  return tell(d[index]);
}
