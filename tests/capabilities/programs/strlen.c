// Exercises: strlen
// Input: stdin; seed: 41*16
// Solution: 41*11 00 41*4
#include "capability.h"

int main(void) {
  char d[17];
  take_text(d, sizeof d);
  size_t x = strlen(d);
  if (x == 11)
    hit();
  return tell(x);
}
