// Exercises: a va_list that is copied and passed on
// Input: stdin; seed: 41*4
// Solution: 7a7a3412
#include "capability.h"

#include <stdarg.h>

static NOINLINE uint32_t second(va_list v) {
  (void)va_arg(v, uint32_t);
  return va_arg(v, uint32_t);
}

static NOINLINE uint32_t both(int first, ...) {
  va_list v, copy;
  va_start(v, first);
  va_copy(copy, v);
  uint32_t x = va_arg(v, uint32_t) << 16 | second(copy);
  va_end(copy);
  va_end(v);
  return x;
}

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = both(0, (uint32_t)load16(d), (uint32_t)load16(d + 2));
  if (x == 0x7a7a1234)
    hit();
  return tell(x);
}
