// Exercises: Adler-32, two sums modulo a prime that are joined
// Input: stdin; seed: 41*6
// Solution: 5a6f72626173
#include "capability.h"

int main(void) {
  uint8_t d[6] = {0};
  take(d, sizeof d);
  uint32_t a = 1, b = 0;
  for (unsigned i = 0; i < sizeof d; i++) {
    a = (a + d[i]) % 65521;
    b = (b + a) % 65521;
  }
  if ((b << 16 | a) == 0x8700272u)
    hit();
  return tell(b << 16 | a);
}
