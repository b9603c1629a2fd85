// Exercises: a counter of bytes that match
// Input: stdin; seed: 41*12
// Solution: 417841787841787841417841
#include "capability.h"

int main(void) {
  uint8_t d[12] = {0};
  take(d, sizeof d);
  unsigned count = 0;
  for (unsigned i = 0; i < sizeof d; i++)
    count += d[i] == 'x';
  if (count == 6)
    hit();
  return tell(count);
}
