// Exercises: a value behind an option's name in one argument
// Input: argv; seed: 41*11
// Solution: 2d2d6c6576656c3d313733
#include "capability.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 64;
  if (strncmp(argv[1], "--level=", 8) == 0 && atoi(argv[1] + 8) == 173)
    hit();
  return tell((unsigned char)argv[1][0]);
}
