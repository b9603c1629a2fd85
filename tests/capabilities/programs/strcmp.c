// Exercises: strcmp, equality
// Input: stdin; seed: 41*12
// Solution: 616272616361646162726100
#include "capability.h"

int main(void) {
  char d[13];
  take_text(d, sizeof d);
  if (strcmp(d, "abracadabra") == 0)
    hit();
  return tell(strcmp(d, "abracadabra") < 0);
}
