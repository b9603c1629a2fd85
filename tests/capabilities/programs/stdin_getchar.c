// Exercises: getchar
// Input: stdin; seed: 41*4
// Solution: 63686172
#include "capability.h"

int main(void) {
  int a = getchar(), b = getchar(), c = getchar(), d = getchar();
  if (a == 'c' && b == 'h' && c == 'a' && d == 'r')
    hit();
  return tell((unsigned)a);
}
