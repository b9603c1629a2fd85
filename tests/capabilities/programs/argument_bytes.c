// Exercises: the bytes of an argument
// Input: argv; seed: 41*8
// Solution: 2d2d736563726574
#include "capability.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 64;
  if (strcmp(argv[1], "--secret") == 0)
    hit();
  return tell((unsigned char)argv[1][0]);
}
