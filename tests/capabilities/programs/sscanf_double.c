// Exercises: sscanf %lf
// Input: stdin; seed: 41*8
// Solution: 763d31322e363235
#include "capability.h"

int main(void) {
  char d[9];
  take_text(d, sizeof d);
  double x = 0;
  if (sscanf(d, "v=%lf", &x) == 1 && x > 12.5 && x < 12.75)
    hit();
  return tell(x > 0);
}
