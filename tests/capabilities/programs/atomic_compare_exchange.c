// Exercises: atomic compare and exchange
// Input: stdin; seed: 41*4
// Solution: feca0d60
#include "capability.h"

#include <stdatomic.h>

int main(void) {
  static _Atomic uint32_t a = 0x600dcafe;
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t expected = load32(d);
  if (atomic_compare_exchange_strong(&a, &expected, 1))
    hit();
  return tell(expected);
}
