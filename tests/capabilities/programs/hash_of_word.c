// Exercises: a multiplicative hash of four bytes
// Input: stdin; seed: 41*4
// Solution: 776f7264
#include "capability.h"

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t hash = 2166136261u, expected = 2166136261u;
  for (unsigned i = 0; i < sizeof d; i++) {
    hash = (hash ^ d[i]) * 16777619u;
    expected = (expected ^ (uint8_t)"word"[i]) * 16777619u;
  }
  if (hash == expected)
    hit();
  return tell(hash);
}
