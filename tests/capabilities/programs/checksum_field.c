// Exercises: a checksum stored in the input over the rest of it
// Input: stdin; seed: 41*12
// Solution: 5403a10e636865636b73756d
#include "capability.h"

int main(void) {
  uint8_t d[12] = {0};
  take(d, sizeof d);
  uint32_t a = 1, b = 0;
  for (unsigned i = 4; i < sizeof d; i++) {
    a = (a + d[i]) % 65521;
    b = (b + a) % 65521;
  }
  if (load32(d) == (b << 16 | a))
    hit();
  return tell(b << 16 | a);
}
