// Exercises: lseek and pread by the function syscall
// Input: stdin; seed: 41*8
// Solution: 41*4 6c736565
#include "capability.h"

#include <sys/syscall.h>

int main(void) {
  uint32_t there = 0, here = 0;
  if (syscall(SYS_lseek, 0, 4l, SEEK_SET) < 0 || syscall(SYS_read, 0, &here, sizeof here) < 0 ||
      syscall(SYS_pread64, 0, &there, sizeof there, 4l) < 0)
    return 1;
  if (here == 0x6565736c && there == here)
    hit();
  return tell(here);
}
