// Exercises: the size of a file by fseek to its end and ftell
// Input: file; seed: 41*4
// Solution: 41*37
#include "capability.h"

int main(int argc, char **argv) {
  FILE *f = fopen(path_of(argc, argv), "r");
  if (!f || fseek(f, 0, SEEK_END) != 0)
    return 1;
  long size = ftell(f);
  rewind(f);
  if (size == 37 && getc(f) == 'A')
    hit();
  return tell((unsigned long)size);
}
