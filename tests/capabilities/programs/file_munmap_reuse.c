// Exercises: memory that was a mapping of the input and is another one now
// Input: file; seed: 41*8
// Solution: 41*4 6d617032
#include "capability.h"

#include <fcntl.h>
#include <sys/mman.h>

int main(int argc, char **argv) {
  uint8_t d[4] = {0};
  int f = open(path_of(argc, argv), O_RDONLY);
  void *p = mmap(NULL, 8, PROT_READ, MAP_PRIVATE, f, 0);
  if (p == MAP_FAILED)
    return 1;
  memcpy(d, (const uint8_t *)p + 4, 4);
  munmap(p, 8);
  uint8_t *q = mmap(p, 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (q == MAP_FAILED)
    return 1;
  if (q[4] == 0 && load32(d) == 0x3270616d)
    hit();
  return tell(q[0]);
}
