// Exercises: memcpy of a part
// Input: stdin; seed: 41*8
// Solution: 414243446d656d63
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0}, to[32] = {0};
  take(d, sizeof d);
  memcpy(to + 9, d + 4, 4);
  if (load32(to + 9) == 0x636d656d && to[8] == 0)
    hit();
  return tell(to[9]);
}
