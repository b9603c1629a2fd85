// Exercises: strncmp with a prefix
// Input: stdin; seed: 41*16
// Solution: 436f6e74656e742d547970653a204141
#include "capability.h"

int main(void) {
  char d[17];
  take_text(d, sizeof d);
  if (strncmp(d, "Content-Type: x", 14) == 0)
    hit();
  return tell(strncmp(d, "Content", 7) < 0);
}
