// Exercises: an average of integers as a double
// Input: stdin; seed: 41*8
// Solution: 0a000000 0d000000
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  int32_t a = (int32_t)load32(d), b = (int32_t)load32(d + 4);
  double average = ((double)a + (double)b) / 2.0;
  if (average == 11.5 && a == 10)
    hit();
  return tell(average > 0);
}
