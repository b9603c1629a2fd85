// Exercises: recvfrom on standard input, in two parts
// Input: socket; seed: 41*8
// Solution: 41*4 66726f6d
#include "capability.h"

#include <sys/socket.h>

int main(void) {
  uint8_t d[8] = {0};
  if (recvfrom(0, d, 4, 0, NULL, NULL) < 0 || recvfrom(0, d + 4, 4, 0, NULL, NULL) < 0)
    return 1;
  if (load32(d + 4) == 0x6d6f7266)
    hit();
  return tell(d[0]);
}
