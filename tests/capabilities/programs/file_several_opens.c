// Exercises: the same file opened three times, read at different places
// Input: file; seed: 41*4
// Solution: c8376509
#include "capability.h"

int main(int argc, char **argv) {
  const char *path = path_of(argc, argv);
  FILE *f = fopen(path, "r"), *g = fopen(path, "r"), *h = fopen(path, "r");
  if (!f || !g || !h)
    return 1;
  int a = getc(f), b = getc(g), c = getc(f), d = getc(f), e = getc(h);
  if (a == 200 && a == b && b == e && a + c == 255 && d == 101)
    hit();
  return tell((unsigned)(a == b));
}
