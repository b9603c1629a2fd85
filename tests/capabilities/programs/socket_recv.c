// Exercises: recv on standard input
// Input: socket; seed: 41*8
// Solution: 48454c4f20726376
#include "capability.h"

#include <sys/socket.h>

int main(void) {
  uint8_t d[8] = {0};
  ssize_t size = recv(0, d, sizeof d, MSG_WAITALL);
  if (size < 0)
    return 1;
  if (memcmp(d, "HELO rcv", 8) == 0)
    hit();
  return tell((unsigned long)size);
}
