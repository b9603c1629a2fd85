// Exercises: a condition in a child of the program
// Input: stdin; seed: 41*4
// Solution: 1dc4f0f0
#include "capability.h"

#include <sys/wait.h>

int main(void) {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  pid_t child = fork();
  if (child < 0)
    return 1;
  if (child == 0)
    _exit(load32(d) == 0xf0f0c41d ? 7 : 0);
  int status = 0;
  if (waitpid(child, &status, 0) != child)
    return 1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 7)
    hit();
  return tell(d[0]);
}
