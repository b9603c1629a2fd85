// Exercises: getopt of a letter and its value
// Input: argv; seed: 68656c6c6f
// Solution: 2d6e343137
#include "capability.h"

int main(int argc, char **argv) {
  int c, level = 0, verbose = 0;
  opterr = 0;
  while ((c = getopt(argc, argv, "vn:x")) != -1)
    switch (c) {
    case 'v':
      verbose++;
      break;
    case 'n':
      level = atoi(optarg);
      break;
    case 'x':
      verbose = 9;
      break;
    default:
      return 2;
    }
  if (level == 417)
    hit();
  return tell((unsigned)(level + verbose));
}
