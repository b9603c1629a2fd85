// Exercises: accept4 and a stream over the connection
// Input: listener; seed: 41*8
// Solution: 474f0a 3432 0a 41*2
#include "capability.h"

#include <sys/socket.h>

int main(void) {
  char verb[16] = "", number[16] = "";
  int s = accept4(0, NULL, NULL, SOCK_CLOEXEC);
  FILE *stream = s < 0 ? NULL : fdopen(s, "r");
  if (!stream || !fgets(verb, sizeof verb, stream))
    return 1;
  if (fgets(number, sizeof number, stream) && verb[0] == 'G' && strcmp(number, "42\n") == 0)
    hit();
  return tell(strlen(verb));
}
