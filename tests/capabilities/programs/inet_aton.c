// Exercises: inet_aton of an address with a line end behind it
// Input: stdin; seed: 61*14
// Solution: 3139322e3136382e372e3132370a
#include "capability.h"

#include <arpa/inet.h>

int main(void) {
  char d[15];
  struct in_addr address;
  take_text(d, sizeof d);
  if (inet_aton(d, &address) && address.s_addr == htonl(0xc0a8077f) && strchr(d, '\n'))
    hit();
  return tell(strlen(d));
}
