// Exercises: two functions that call each other over a nested text
// Input: stdin; seed: 41*8
// Solution: 28282829292928292e
#include "capability.h"

static const char *at;

static unsigned list(void);

static NOINLINE unsigned item(void) {
  at++;
  unsigned depth = list() + 1;
  if (*at == ')')
    at++;
  return depth;
}

static NOINLINE unsigned list(void) {
  unsigned deepest = 0;
  while (*at == '(') {
    unsigned depth = item();
    deepest = depth > deepest ? depth : deepest;
  }
  return deepest;
}

int main(void) {
  char d[10];
  take_text(d, sizeof d);
  at = d;
  unsigned depth = list();
  if (depth == 3 && *at == '.')
    hit();
  return tell(depth);
}
