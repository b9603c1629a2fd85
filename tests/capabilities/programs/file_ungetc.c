// Exercises: ungetc
// Input: file; seed: 414141
// Solution: 2b2a37
#include "capability.h"

int main(int argc, char **argv) {
  FILE *f = fopen(path_of(argc, argv), "r");
  if (!f)
    return 1;
  int a = getc(f);
  if (a == '+')
    ungetc('-', f);
  else
    ungetc(a, f);
  int b = getc(f), c = getc(f), d = getc(f);
  if (b == '-' && c == '*' && d == '7')
    hit();
  return tell((unsigned)b);
}
