// Exercises: read by the function syscall
// Input: stdin; seed: 41*4
// Solution: 73797363
#include "capability.h"

#include <sys/syscall.h>

int main(void) {
  uint8_t d[4] = {0};
  if (syscall(SYS_read, 0, d, sizeof d) < 0)
    return 1;
  if (load32(d) == 0x63737973)
    hit();
  return tell(d[0]);
}
