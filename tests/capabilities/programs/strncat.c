// Exercises: strncat
// Input: stdin; seed: 41*8
// Solution: 6162636465664141
#include "capability.h"

int main(void) {
  char d[9], to[24] = "<";
  take_text(d, sizeof d);
  strncat(to, d, 5);
  strncat(to, ">", 5);
  if (strcmp(to, "<abcde>") == 0)
    hit();
  return tell(strlen(to));
}
