// Exercises: the place where strtod stops, and a second number behind it
// Input: stdin; seed: 41*8
// Solution: 312e353b322e3235
#include "capability.h"

int main(void) {
  char d[9], *end;
  take_text(d, sizeof d);
  double x = strtod(d, &end);
  if (end == d || *end != ';')
    return tell(1);
  double y = strtod(end + 1, NULL);
  if (x == 1.5 && y == 2.25)
    hit();
  return tell(y > 1.0);
}
