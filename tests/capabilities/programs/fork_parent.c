// Exercises: a condition in the program after a child has ended
// Input: stdin; seed: 41*4
// Solution: 01474e9a
#include "capability.h"

#include <sys/wait.h>

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  pid_t child = fork();
  if (child < 0)
    return 1;
  if (child == 0)
    _exit(5);
  int status = 0;
  if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 5)
    return 1;
  if (load32(d) == 0x9a4e4701)
    hit();
  return tell(d[0]);
}
