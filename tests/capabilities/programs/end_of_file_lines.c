// Exercises: a number of lines until the end of the input
// Input: stdin; seed: 610a620a
// Solution: 610a*6
#include "capability.h"

int main(void) {
  char line[16];
  unsigned lines = 0;
  while (fgets(line, sizeof line, stdin))
    lines++;
  if (lines == 6)
    hit();
  return tell(lines);
}
