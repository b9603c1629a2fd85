// Exercises: a whole file through its buffer into a std::stringstream
// Input: file; seed: 41*10
// Solution: 417264627566 41*4
#include "capability.h"

#include <fstream>
#include <sstream>

int main(int argc, char **argv) {
  std::ifstream in(path_of(argc, argv));
  std::stringstream copy;
  copy << in.rdbuf();
  if (copy.str().compare(1, 5, "rdbuf") == 0)
    hit();
  return tell(copy.str().size());
}
