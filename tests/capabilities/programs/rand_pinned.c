// Exercises: rand with a fixed start, whose numbers meet the input
// Input: stdin; seed: 41*4
// Solution: 6d7a0000
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  srand(7);
  uint32_t key = (uint32_t)rand();
  if ((load32(d) ^ key) == (0x7a6d ^ key))
    hit();
  return tell(d[0]);
}
