// Exercises: std::filesystem::file_size
// Input: file; seed: 41*6
// Solution: 4141414141414141416b
#include "capability.h"

#include <filesystem>
#include <fstream>

int main(int argc, char **argv) {
  const char *path = path_of(argc, argv);
  const auto size = std::filesystem::file_size(path);
  std::ifstream in(path);
  char last = 0;
  in.seekg(static_cast<std::streamoff>(size) - 1);
  in.get(last);
  if (size == 10 && last == 'k')
    hit();
  return tell(static_cast<unsigned char>(last));
}
