// Exercises: memccpy up to a byte
// Input: stdin; seed: 41*8
// Solution: 6d63 7c 41*5
#include "capability.h"

int main(void) {
  char d[9], to[9] = "";
  take_text(d, sizeof d);
  char *end = memccpy(to, d, '|', 8);
  if (end == to + 3 && memcmp(to, "mc|", 3) == 0)
    hit();
  return tell(end != NULL);
}
