// Exercises: a number in an argument
// Input: argv; seed: 41*6
// Solution: 323731383238
#include "capability.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 64;
  long x = strtol(argv[1], NULL, 10);
  if (x == 271828)
    hit();
  return tell((unsigned long)x);
}
