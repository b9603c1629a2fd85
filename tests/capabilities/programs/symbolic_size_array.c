// Exercises: an array on the stack whose size is an input value
// Input: stdin; seed: 41
// Solution: 7b
#include "capability.h"

static NOINLINE unsigned sum(unsigned size) {
  volatile uint8_t room[size + 1];
  for (unsigned i = 0; i <= size; i++)
    room[i] = (uint8_t)i;
  return room[size] + size;
}

int main(void) {
  uint8_t d[1] = {0};
  take(d, sizeof d);
  unsigned x = sum(d[0]);
  if (x == 246)
    hit();
  return tell(x);
}
