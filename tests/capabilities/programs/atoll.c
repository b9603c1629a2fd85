// Exercises: atoll with blanks and a sign
// Input: stdin; seed: 41*6
// Solution: 202b34373131
#include "capability.h"

int main(void) {
  char d[7];
  take_text(d, sizeof d);
  long long x = atoll(d);
  if (x == 4711 && d[0] == ' ' && d[1] == '+')
    hit();
  return tell((unsigned long long)x);
}
