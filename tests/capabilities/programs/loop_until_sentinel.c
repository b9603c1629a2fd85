// Exercises: a loop that ends at a byte of the input
// Input: stdin; seed: 41*24
// Solution: 41*17 21 41*6
#include "capability.h"

int main(void) {
  uint8_t d[24] = {0};
  take(d, sizeof d);
  unsigned count = 0;
  while (count < sizeof d && d[count] != '!')
    count++;
  if (count == 17)
    hit();
  return tell(count);
}
