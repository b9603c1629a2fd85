// Exercises: a line read by stdio from a socket
// Input: socket; seed: 41*8
// Solution: 515549540d0a0d0a
#include "capability.h"

int main(void) {
  char line[32] = "";
  if (!fgets(line, sizeof line, stdin))
    return 1;
  if (strcmp(line, "QUIT\r\n") == 0)
    hit();
  return tell(strlen(line));
}
