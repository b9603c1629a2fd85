// Exercises: fgetc and getc
// Input: file; seed: 41*4
// Solution: 66677463
#include "capability.h"

int main(int argc, char **argv) {
  FILE *f = fopen(path_of(argc, argv), "r");
  if (!f)
    return 1;
  int a = fgetc(f), b = getc(f), c = fgetc(f), d = getc_unlocked(f);
  if (a == 'f' && b == 'g' && c == 't' && d == 'c')
    hit();
  return tell((unsigned)a);
}
