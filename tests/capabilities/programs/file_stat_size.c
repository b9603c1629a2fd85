// Exercises: the size that stat tells
// Input: file; seed: 41*4
// Solution: 41*29
#include "capability.h"

#include <sys/stat.h>

int main(int argc, char **argv) {
  struct stat facts;
  if (stat(path_of(argc, argv), &facts) != 0)
    return 1;
  FILE *f = fopen(argv[1], "r");
  if (!f)
    return 1;
  int first = getc(f);
  if (facts.st_size == 29 && first == 'A')
    hit();
  return tell((unsigned long)facts.st_size);
}
