// Exercises: the size that snprintf tells and the part that it writes
// Input: stdin; seed: 41*4
// Solution: 87d61200
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  char text[5];
  take(d, sizeof d);
  int size = snprintf(text, sizeof text, "%u", load32(d));
  if (size == 7 && strcmp(text, "1234") == 0)
    hit();
  return tell((unsigned)size);
}
