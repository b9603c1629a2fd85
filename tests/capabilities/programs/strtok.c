// Exercises: strtok
// Input: stdin; seed: 41*12
// Solution: 7365742c757365723b726f62
#include "capability.h"

int main(void) {
  char d[13];
  take_text(d, sizeof d);
  const char *a = strtok(d, " ,;"), *b = strtok(NULL, " ,;"), *c = strtok(NULL, " ,;");
  if (a && b && c && strcmp(a, "set") == 0 && strcmp(b, "user") == 0 && c[0] == 'r')
    hit();
  return tell((a != NULL) + (b != NULL) * 2u + (c != NULL) * 4u);
}
