// Exercises: sscanf with three numbers
// Input: stdin; seed: 41*12
// Solution: 31303234783736384036302e
#include "capability.h"

int main(void) {
  char d[13];
  take_text(d, sizeof d);
  unsigned width = 0, height = 0, rate = 0;
  int fields = sscanf(d, "%ux%u@%u", &width, &height, &rate);
  if (fields == 3 && width == 1024 && height == 768 && rate == 60)
    hit();
  return tell((unsigned)fields);
}
