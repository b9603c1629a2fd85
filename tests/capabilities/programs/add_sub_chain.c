// Exercises: a chain of additions and subtractions
// Input: stdin; seed: 41*8
// Solution: 5c75dbc905000000
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d) + 0x1234567 - load32(d + 4);
  if (x == 0xcafebabe)
    hit();
  return tell(x);
}
