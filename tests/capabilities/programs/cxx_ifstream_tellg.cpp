// Exercises: the size of a file by std::ifstream::tellg
// Input: file; seed: 41*6
// Solution: 4d41444141414141414141d00d
#include "capability.h"

#include <fstream>
#include <vector>

int main(int argc, char **argv) {
  std::ifstream in(path_of(argc, argv), std::ios::binary | std::ios::ate);
  const auto size = in.tellg();
  if (size < 4)
    return 1;
  std::vector<char> all(static_cast<size_t>(size));
  in.seekg(0);
  in.read(all.data(), size);
  if (in.gcount() != size)
    return 2;
  if (all.size() == 13 && all[0] == 'M' && static_cast<unsigned char>(all[all.size() - 2]) == 0xd0)
    hit();
  return tell(static_cast<unsigned char>(all[0]));
}
