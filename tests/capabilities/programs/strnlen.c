// Exercises: strnlen
// Input: stdin; seed: 41*16
// Solution: 41*9 00 41*6
#include "capability.h"

int main(void) {
  char d[17];
  take_text(d, sizeof d);
  size_t x = strnlen(d, 14);
  if (x == 9)
    hit();
  return tell(x);
}
