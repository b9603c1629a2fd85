// Exercises: snprintf %d
// Input: stdin; seed: 41*4
// Solution: 01ebfeff
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  char text[32];
  take(d, sizeof d);
  snprintf(text, sizeof text, "<%d>", (int)load32(d));
  if (strcmp(text, "<-70911>") == 0)
    hit();
  return tell(strlen(text));
}
