// Exercises: blocks of a std::ifstream, the last one short
// Input: file; seed: 41*5
// Solution: 41414141414141414141417a
#include "capability.h"

#include <fstream>

int main(int argc, char **argv) {
  std::ifstream in(path_of(argc, argv), std::ios::binary);
  char block[8] = {0};
  int full = 0;
  while (in.read(block, sizeof block))
    ++full;
  if (full == 1 && in.gcount() == 4 && block[3] == 'z')
    hit();
  return tell(static_cast<unsigned char>(block[0]));
}
