// Exercises: a look at what a socket holds before it is taken
// Input: socket; seed: 41*6
// Solution: 70656b 6b6579
#include "capability.h"

#include <sys/socket.h>

int main(void) {
  char kind[4] = "", all[7] = "";
  if (recv(0, kind, 3, MSG_PEEK) != 3 || recv(0, all, 6, 0) != 6)
    return 1;
  if (strcmp(kind, "pek") == 0 && strcmp(all + 3, "key") == 0)
    hit();
  return tell((unsigned char)all[0]);
}
