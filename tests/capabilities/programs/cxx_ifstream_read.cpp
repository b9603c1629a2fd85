// Exercises: std::ifstream: get, peek, seekg, read
// Input: file; seed: 41*9
// Solution: 63704141626c6f636b
#include "capability.h"

#include <fstream>

int main(int argc, char **argv) {
  std::ifstream in(path_of(argc, argv), std::ios::binary);
  char block[5] = {0};
  int c = in.get();
  if (c != 'c' || in.peek() != 'p')
    return 1;
  in.seekg(4);
  if (in.read(block, 5) && memcmp(block, "block", 5) == 0)
    hit();
  return tell(static_cast<unsigned char>(block[0]));
}
