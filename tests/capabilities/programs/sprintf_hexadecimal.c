// Exercises: sprintf %08x
// Input: stdin; seed: 41*4
// Solution: 0df0ea05
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  char text[32];
  take(d, sizeof d);
  sprintf(text, "%08x", load32(d));
  if (strcmp(text, "05eaf00d") == 0)
    hit();
  return tell(strlen(text));
}
