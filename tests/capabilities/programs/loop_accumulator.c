// Exercises: a decimal number gathered in a loop
// Input: stdin; seed: 41*6
// Solution: 323731383238
#include "capability.h"

int main(void) {
  uint8_t d[6] = {0};
  take(d, sizeof d);
  unsigned value = 0;
  for (unsigned i = 0; i < sizeof d; i++) {
    if (d[i] < '0' || d[i] > '9')
      return 1;
    value = value * 10 + (d[i] - '0');
  }
  if (value == 271828)
    hit();
  return tell(value);
}
