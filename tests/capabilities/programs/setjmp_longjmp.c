// Exercises: setjmp and longjmp over a call
// Input: stdin; seed: 4141
// Solution: 2a18
#include "capability.h"

#include <setjmp.h>

static jmp_buf back;

static NOINLINE void deep(int x) {
  if (x == 42)
    longjmp(back, x);
}

int main(void) {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  int how = setjmp(back);
  if (how == 0)
    deep(d[0]);
  else if (d[1] == how - 18)
    hit();
  return tell((unsigned)how);
}
