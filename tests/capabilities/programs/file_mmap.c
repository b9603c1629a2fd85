// Exercises: mmap of the input
// Input: file; seed: 41*12
// Solution: 4141416d6d617021 41*4
#include "capability.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv) {
  int f = open(path_of(argc, argv), O_RDONLY);
  struct stat facts;
  if (f < 0 || fstat(f, &facts) != 0 || facts.st_size < 8)
    return 1;
  const uint8_t *p = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, f, 0);
  if (p == MAP_FAILED)
    return 1;
  if (load32(p + 3) == 0x70616d6d && p[7] == '!')
    hit();
  int status = tell(p[0]);
  munmap((void *)p, (size_t)facts.st_size);
  return status;
}
