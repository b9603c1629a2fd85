// Exercises: a whole file through stream iterators
// Input: file; seed: 41*10
// Solution: 414177686f6c65414141
#include "capability.h"

#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char **argv) {
  std::ifstream in(path_of(argc, argv));
  std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (all.find("whole") == 2)
    hit();
  return tell(all.size());
}
