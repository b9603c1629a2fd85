// Exercises: a line that a constructor reads by stdio
// Input: stdin; seed: 41*6
// Solution: 6561726c790a
#include "capability.h"

static char line[32];

__attribute__((constructor)) static void read_early(void) {
  if (!fgets(line, sizeof line, stdin))
    line[0] = 0;
}

int main(void) {
  if (strcmp(line, "early\n") == 0)
    hit();
  return tell(strlen(line));
}
