// Exercises: swab of words
// Input: stdin; seed: 41*6
// Solution: 796d656c746f
#include "capability.h"

int main(void) {
  unsigned char d[6] = {0}, s[6];
  take(d, sizeof d);
  swab(d, s, sizeof s);
  if (load32(s) == 0x656c796d && load16(s + 4) == 0x746f)
    hit();
  return tell(load32(s));
}
