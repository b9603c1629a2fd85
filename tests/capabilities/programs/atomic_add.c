// Exercises: atomic load, store, fetch and add
// Input: stdin; seed: 41*4
// Solution: 1c31700a
#include "capability.h"

#include <stdatomic.h>

int main(void) {
  static atomic_uint a;
  uint8_t d[4] = {0};
  take(d, sizeof d);
  atomic_store(&a, load32(d));
  unsigned old = atomic_fetch_add(&a, 5);
  atomic_fetch_xor(&a, 0xff);
  if (old == 0x0a70311c && atomic_load(&a) == ((0x0a70311c + 5) ^ 0xff))
    hit();
  return tell(atomic_load(&a));
}
