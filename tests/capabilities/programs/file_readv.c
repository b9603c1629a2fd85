// Exercises: readv into two places
// Input: file; seed: 41*7
// Solution: 766563746f7221
#include "capability.h"

#include <fcntl.h>
#include <sys/uio.h>

int main(int argc, char **argv) {
  uint8_t a[3] = {0}, b[4] = {0};
  struct iovec parts[2] = {{a, 3}, {b, 4}};
  int f = open(path_of(argc, argv), O_RDONLY);
  if (f < 0 || readv(f, parts, 2) < 0)
    return 1;
  if (a[2] == 'c' && a[0] == 'v' && load32(b) == 0x21726f74)
    hit();
  return tell(a[0]);
}
