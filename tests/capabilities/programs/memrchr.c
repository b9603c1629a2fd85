// Exercises: memrchr
// Input: stdin; seed: 41*16
// Solution: 41412e41412e 41*10
#include "capability.h"

int main(void) {
  uint8_t d[16] = {0};
  take(d, sizeof d);
  const uint8_t *first = memchr(d, '.', sizeof d), *last = memrchr(d, '.', sizeof d);
  if (last && last - d == 5 && first - d == 2)
    hit();
  return tell(last != NULL);
}
