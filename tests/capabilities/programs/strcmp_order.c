// Exercises: strcmp, the order of the first difference
// Input: stdin; seed: 41*8
// Solution: 6d616e676f014141
#include "capability.h"

int main(void) {
  char d[9];
  take_text(d, sizeof d);
  if (strcmp(d, "mango") > 0 && strcmp(d, "mango\x02") < 0)
    hit();
  return tell(strcmp(d, "mango") < 0);
}
