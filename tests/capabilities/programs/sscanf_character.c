// Exercises: sscanf %c
// Input: stdin; seed: 41*6
// Solution: 28512c203729
#include "capability.h"

int main(void) {
  char d[7];
  take_text(d, sizeof d);
  char a = 0, b = 0;
  if (sscanf(d, "(%c, %c)", &a, &b) == 2 && a == 'Q' && b == '7')
    hit();
  return tell((unsigned char)a);
}
