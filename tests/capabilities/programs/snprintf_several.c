// Exercises: snprintf of several numbers with flags, width and precision
// Input: stdin; seed: 41*12
// Solution: 2a000000 efbe0000 f9ffffff
#include "capability.h"

int main(void) {
  uint8_t d[12] = {0};
  char text[64];
  take(d, sizeof d);
  snprintf(text, sizeof text, "%05u|%#x|%-4d|", load32(d), load32(d + 4), (int)load32(d + 8));
  if (strcmp(text, "00042|0xbeef|-7  |") == 0)
    hit();
  return tell(strlen(text));
}
