// Exercises: a loop whose number of turns is an input value
// Input: stdin; seed: 41
// Solution: 1b
#include "capability.h"

int main(void) {
  uint8_t d[1] = {0};
  take(d, sizeof d);
  unsigned sum = 0;
  for (unsigned i = 0; i < d[0] % 32u; i++)
    sum += i;
  if (sum == 27 * 26 / 2)
    hit();
  return tell(sum);
}
