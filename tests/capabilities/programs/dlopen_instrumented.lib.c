/* Opened by dlopen_instrumented.c. */
#include "capability.h"

int accepts(const uint8_t *d) {
  uint64_t x = 0;
  for (unsigned i = 0; i < 8; i++)
    x = x << 8 | d[i];
  return x == 0xd1095000d1095001u;
}
