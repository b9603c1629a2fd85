// Exercises: fgets, line by line
// Input: file; seed: 41*16
// Solution: 6f6e650a74776f0a 41*8
#include "capability.h"

int main(int argc, char **argv) {
  char a[16] = "", b[16] = "";
  FILE *f = fopen(path_of(argc, argv), "r");
  if (!f || !fgets(a, sizeof a, f) || !fgets(b, sizeof b, f))
    return 1;
  if (strcmp(a, "one\n") == 0 && strcmp(b, "two\n") == 0)
    hit();
  return tell(strlen(a));
}
