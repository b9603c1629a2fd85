// Exercises: getc_unlocked until the end of the input, then feof
// Input: file; seed: 41*3
// Solution: 41*9
#include "capability.h"

int main(int argc, char **argv) {
  unsigned count = 0;
  FILE *f = fopen(path_of(argc, argv), "r");
  if (!f)
    return 1;
  while (getc_unlocked(f) != EOF)
    count++;
  if (count == 9 && feof(f))
    hit();
  return tell(count);
}
