// Exercises: how many whole elements fread gets
// Input: stdin; seed: 41*14
// Solution: 41*65
#include "capability.h"

int main(void) {
  static uint8_t d[20][12];
  size_t records = fread(d, sizeof d[0], 20, stdin);
  if (records == 5)
    hit();
  return tell(records);
}
