// Exercises: conditions kept as values of one bit
// Input: stdin; seed: 414141
// Solution: 110133
#include "capability.h"

int main(void) {
  uint8_t d[3] = {0};
  take(d, sizeof d);
  _Bool a = d[0] == 17, b = d[1] == 34, c = d[2] == 51;
  _Bool all = (a & (b | c)) ^ (b & c);
  if (all && !b)
    hit();
  return tell(all + 2u * a);
}
