// Exercises: computed goto (indirectbr)
// Input: stdin; seed: 414141
// Solution: 020102
#include "capability.h"

int main(void) {
  uint8_t d[3] = {0};
  take(d, sizeof d);
  static void *const to[4] = {&&stop, &&twice, &&more, &&stop};
  unsigned x = 1, i = 0;
next:
  if (i == sizeof d)
    goto stop;
  goto *to[d[i++] & 3];
twice:
  x *= 2;
  goto next;
more:
  x += 5;
  goto next;
stop:
  if (x == 17)
    hit();
  return tell(x);
}
