// Exercises: strcspn
// Input: stdin; seed: 41*10
// Solution: 41*5 0a 41*4
#include "capability.h"

int main(void) {
  char d[11];
  take_text(d, sizeof d);
  size_t x = strcspn(d, "\r\n");
  if (x == 5 && d[5] == '\n')
    hit();
  return tell(x);
}
