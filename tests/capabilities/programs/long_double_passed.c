// Exercises: long doubles that are passed and returned, also to a variadic function
// Input: stdin; seed: 41*10
// Solution: 00*7 a00240
#include "capability.h"

#include <stdarg.h>

static NOINLINE long double last(int count, ...) {
  va_list v;
  va_start(v, count);
  long double x = 0;
  while (count-- > 0)
    x = va_arg(v, long double);
  va_end(v);
  return x;
}

static NOINLINE long double twice(long double x) { return x + x; }

int main(void) {
  long double x = 0;
  take(&x, 10);
  if (last(2, 1.0L, twice(x)) == 20.0L)
    hit();
  return tell(x > 1.0L);
}
