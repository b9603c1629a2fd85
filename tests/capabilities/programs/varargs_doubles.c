// Exercises: more doubles than registers in a variadic function
// Input: stdin; seed: 41*16
// Solution: 00*6 f83f 00*6 0440
#include "capability.h"

#include <stdarg.h>

static NOINLINE double sum(int count, ...) {
  va_list v;
  va_start(v, count);
  double all = 0;
  for (int i = 1; i <= count; i++)
    all += i * va_arg(v, double);
  va_end(v);
  return all;
}

int main(void) {
  double x[2] = {0};
  take(x, sizeof x);
  if (sum(10, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, x[0], 0.0, 0.0, x[1]) == 35.5 && x[1] == 2.5)
    hit();
  return tell(x[0] > 1.0);
}
