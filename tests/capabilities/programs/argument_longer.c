// Exercises: an argument that must be longer than the seed
// Input: argv; seed: 41*3
// Solution: 41*5 6c
#include "capability.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 64;
  size_t length = strlen(argv[1]);
  if (length == 6 && argv[1][5] == 'l')
    hit();
  return tell(length);
}
