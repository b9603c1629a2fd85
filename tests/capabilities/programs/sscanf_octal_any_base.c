// Exercises: sscanf %o and %i
// Input: stdin; seed: 41*12
// Solution: 37373720307863306465
#include "capability.h"

int main(void) {
  char d[13];
  take_text(d, sizeof d);
  unsigned mode = 0;
  int i = 0;
  if (sscanf(d, "%o %i", &mode, &i) == 2 && mode == 0777 && i == 0xc0de)
    hit();
  return tell(mode);
}
