// Exercises: a stream over memory that holds the input
// Input: stdin; seed: 41*8
// Solution: 666d656d3d31370a
#include "capability.h"

int main(void) {
  char d[9];
  size_t size = take_text(d, sizeof d);
  FILE *f = size ? fmemopen(d, size, "r") : NULL;
  if (!f)
    return 1;
  char line[16] = "";
  if (!fgets(line, sizeof line, f))
    return 1;
  if (strcmp(line, "fmem=17\n") == 0)
    hit();
  return tell(strlen(line));
}
