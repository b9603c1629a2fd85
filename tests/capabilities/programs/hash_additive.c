// Exercises: the hash h * 33 + c over eight letters, which the path requires to be letters
// Input: stdin; seed: 41*8
// Solution: 7365637265746c79
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint32_t h = 5381;
  for (unsigned i = 0; i < sizeof d; i++) {
    if (d[i] < 'a' || d[i] > 'z')
      return 1;
    h = h * 33 + d[i];
  }
  if (h == 0xeb36e110u)
    hit();
  return tell(h);
}
