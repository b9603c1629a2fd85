// Exercises: a variadic function with integers of two sizes and floating point
// Input: stdin; seed: 41*8
// Solution: 41018e0210325476
#include "capability.h"

#include <stdarg.h>

static NOINLINE uint64_t gather(const char *kinds, ...) {
  va_list v;
  va_start(v, kinds);
  uint64_t x = 0;
  for (; *kinds; kinds++)
    x = x * 1000 + (*kinds == 'd'   ? (uint64_t)va_arg(v, double)
                    : *kinds == 'l' ? va_arg(v, uint64_t)
                                    : va_arg(v, unsigned));
  va_end(v);
  return x;
}

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  uint64_t x =
      gather("idl", (unsigned)load16(d), (double)load16(d + 2), (uint64_t)load32(d + 4) << 8);
  if (x == 321654000 + (0x76543210ull << 8))
    hit();
  return tell(x);
}
