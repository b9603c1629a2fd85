// Exercises: inet_addr of an address
// Input: argv; seed: 61*8
// Solution: 3132372e302e302e39
#include "capability.h"

#include <arpa/inet.h>

int main(int argc, char **argv) {
  if (argc != 2)
    return 64;
  in_addr_t address = inet_addr(argv[1]);
  if (address == INADDR_NONE)
    return 1;
  if (ntohl(address) == 0x7f000009)
    hit();
  return tell(address);
}
