// Exercises: a hash of four bytes whose steps rotate and mix the state with itself
// Input: stdin; seed: 41*4
// Solution: 6b65792e
#include "capability.h"

static NOINLINE uint32_t hash(const uint8_t *d, unsigned size) {
  uint32_t h = 0x9747b28cu;
  for (unsigned i = 0; i < size; i++) {
    uint32_t k = d[i] * 0xcc9e2d51u;
    h ^= k << 15 | k >> 17;
    h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
  }
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  return h;
}

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = hash(d, sizeof d);
  if (x == 0xcaa17e74u)
    hit();
  return tell(x);
}
