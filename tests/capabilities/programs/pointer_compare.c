// Exercises: comparison of two pointers into one object
// Input: stdin; seed: 4141
// Solution: 2825
#include "capability.h"

int main(void) {
  static char room[256];
  uint8_t d[2] = {0};
  take(d, sizeof d);
  const char *a = room + d[0], *b = room + d[1];
  if (a > b && a < b + 4 && b + 3 == a && b == room + 37)
    hit();
  return tell((unsigned long long)(a > b));
}
