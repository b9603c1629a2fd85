// Exercises: getrandom bytes that mask the input
// Input: stdin; seed: 41*4
// Solution: 170b4d4a
#include "capability.h"

#include <sys/random.h>

int main(void) {
  uint8_t d[4] = {0}, key[4] = {0};
  take(d, sizeof d);
  if (getrandom(key, sizeof key, 0) != 4)
    return 1;
  for (unsigned i = 0; i < 4; i++)
    d[i] ^= key[i];
  for (unsigned i = 0; i < 4; i++)
    d[i] ^= key[i];
  if (load32(d) == 0x4a4d0b17)
    hit();
  return tell(d[0]);
}
