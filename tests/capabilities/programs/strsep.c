// Exercises: strsep, which gives empty fields
// Input: stdin; seed: 41*12
// Solution: 3a3a783a 41*8
#include "capability.h"

int main(void) {
  char d[13];
  take_text(d, sizeof d);
  char *rest = d;
  const char *a = strsep(&rest, ":"), *b = strsep(&rest, ":"), *c = strsep(&rest, ":");
  if (a && b && c && !*a && !*b && c[0] == 'x' && c[1] == 0)
    hit();
  return tell((a != NULL) + (b != NULL) * 2u + (c != NULL) * 4u);
}
