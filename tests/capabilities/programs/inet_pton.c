// Exercises: inet_pton of an address
// Input: stdin; seed: 7878787878787878787878780a
// Solution: 31302e32302e33302e34300a
#include "capability.h"

#include <arpa/inet.h>

int main(void) {
  char d[80];
  struct in_addr address;
  if (!fgets(d, sizeof d, stdin))
    return 1;
  d[strcspn(d, "\r\n")] = 0;
  if (inet_pton(AF_INET, d, &address) != 1)
    return 2;
  if (ntohl(address.s_addr) == 0x0a141e28)
    hit();
  return tell(address.s_addr);
}
