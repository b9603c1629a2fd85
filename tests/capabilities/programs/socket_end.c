// Exercises: the end of a connection, and how much came before it
// Input: socket; seed: 41*4
// Solution: 41*19
#include "capability.h"

#include <sys/socket.h>

int main(void) {
  uint8_t d[64];
  size_t size = 0;
  ssize_t got;
  while (size < sizeof d && (got = recv(0, d + size, sizeof d - size, 0)) > 0)
    size += (size_t)got;
  if (size == 19)
    hit();
  return tell(size);
}
