// Exercises: an input that must be empty
// Input: stdin; seed: 41*4
// Solution: -
#include "capability.h"

int main(void) {
  int first = getchar();
  if (first == EOF && feof(stdin))
    hit();
  return tell((unsigned)first);
}
