// Exercises: atof
// Input: stdin; seed: 31*5
// Solution: 332e313235
#include "capability.h"

int main(void) {
  char d[6];
  take_text(d, sizeof d);
  double x = atof(d);
  if (x == 3.125)
    hit();
  return tell(x > 1.0);
}
