// Exercises: the time of day beside a condition
// Input: stdin; seed: 41*4
// Solution: cc100c00
#include "capability.h"

#include <time.h>

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  time_t now = time(NULL);
  if (now > 1000000 && load32(d) == 0x0c10cc && getpid() > 0)
    hit();
  return tell(now > 1000000);
}
