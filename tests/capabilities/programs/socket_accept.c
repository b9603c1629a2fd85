// Exercises: accept on standard input, as inetd starts servers that wait
// Input: listener; seed: 41*8
// Solution: 6163636570746564
#include "capability.h"

#include <sys/socket.h>

int main(void) {
  uint8_t d[8] = {0};
  int s = accept(0, NULL, NULL);
  if (s < 0 || recv(s, d, sizeof d, MSG_WAITALL) < 0)
    return 1;
  if (memcmp(d, "accepted", 8) == 0)
    hit();
  return tell(d[0]);
}
