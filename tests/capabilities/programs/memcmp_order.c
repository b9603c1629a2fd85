// Exercises: memcmp, the order of the first difference between two parts of the input
// Input: stdin; seed: 41*16
// Solution: 61626364656667686162636465666767
#include "capability.h"

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  int x = memcmp(d, d + 8, 8);
  if (x > 0 && memcmp(d, d + 8, 7) == 0 && d[0] == 'a')
    hit();
  return tell(x > 0);
}
