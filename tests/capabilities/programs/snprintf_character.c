// Exercises: snprintf %c
// Input: stdin; seed: 414141
// Solution: 253b7e
#include "capability.h"

int main(void) {
  char d[4], text[32];
  take_text(d, sizeof d);
  snprintf(text, sizeof text, "%c.%c.%c", d[0], d[1], d[2]);
  if (strcmp(text, "%.;.~") == 0)
    hit();
  return tell(strlen(text));
}
