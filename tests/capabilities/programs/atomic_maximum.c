// Exercises: a loop around a weak exchange: an atomic maximum
// Input: stdin; seed: 41*8
// Solution: 01000000ffffff7f
#include "capability.h"

#include <stdatomic.h>

static NOINLINE void raise_to(_Atomic uint64_t *a, uint64_t x) {
  uint64_t old = atomic_load(a);
  while (old < x && !atomic_compare_exchange_weak(a, &old, x))
    ;
}

int main(void) {
  static _Atomic uint64_t a = 0x7fffffff00000000u;
  uint8_t d[8] = {0};
  take(d, sizeof d);
  raise_to(&a, load64(d));
  if (atomic_load(&a) == 0x7fffffff00000001u)
    hit();
  return tell(atomic_load(&a));
}
