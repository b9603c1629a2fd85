// Exercises: a loop until the end of the input
// Input: stdin; seed: 414141
// Solution: 41*11
#include "capability.h"

int main(void) {
  unsigned count = 0;
  int c;
  while ((c = getchar()) != EOF)
    count += c == 'A';
  if (count == 11)
    hit();
  return tell(count);
}
