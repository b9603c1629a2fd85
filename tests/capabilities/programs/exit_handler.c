// Exercises: a condition in a function that runs at exit
// Input: stdin; seed: 41*4
// Solution: 17e8a700
#include "capability.h"

static uint8_t d[4];

static void at_end(void) {
  if (load32(d) == 0xa7e817) {
    fputs("HIT\n", stdout);
    fflush(stdout);
    _exit(42);
  }
}

int main(void) {
  take(d, sizeof d);
  atexit(at_end);
  return tell(d[0]);
}
