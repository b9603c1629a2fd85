// Exercises: strcat
// Input: stdin; seed: 41*8
// Solution: 6361742100414141
#include "capability.h"

int main(void) {
  char d[9], to[24] = "con";
  take_text(d, sizeof d);
  strcat(to, d);
  strcat(to, "?");
  if (strcmp(to, "concat!?") == 0)
    hit();
  return tell(strlen(to));
}
