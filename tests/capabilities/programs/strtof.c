// Exercises: strtof
// Input: stdin; seed: 41*6
// Solution: 302e313235 20
#include "capability.h"

int main(void) {
  char d[7];
  take_text(d, sizeof d);
  float x = strtof(d, NULL);
  if (x == 0.125f)
    hit();
  return tell(x > 1.0f);
}
