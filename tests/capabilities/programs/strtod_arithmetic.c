// Exercises: arithmetic with a number that strtod read
// Input: stdin; seed: 30*6
// Solution: 33372e343030
#include "capability.h"

int main(void) {
  char d[7];
  take_text(d, sizeof d);
  double celsius = strtod(d, NULL);
  double fahrenheit = celsius * 9 / 5 + 32;
  if (fahrenheit > 99.3 && fahrenheit < 99.35)
    hit();
  return tell(fahrenheit > 32.0);
}
