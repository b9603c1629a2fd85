// Exercises: the value that longjmp gives to setjmp
// Input: stdin; seed: 41*2
// Solution: 3723
#include "capability.h"

#include <setjmp.h>

static jmp_buf outer;
static sigjmp_buf inner;

static void leave(int code) { longjmp(outer, 40 + code); }

int main(void) {
  unsigned char in[2] = {0};
  take(in, sizeof in);
  int first = setjmp(outer);
  if (first == 0)
    leave(in[0]);
  int second = sigsetjmp(inner, 1);
  if (second == 0)
    siglongjmp(inner, in[1] * 3 + 1);
  if (first == 95 && second == 106)
    hit();
  return tell((unsigned)first);
}
