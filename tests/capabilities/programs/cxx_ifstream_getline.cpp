// Exercises: std::ifstream and std::getline
// Input: file; seed: 41*12
// Solution: 66697273740a626574610a41
#include "capability.h"

#include <fstream>
#include <string>

int main(int argc, char **argv) {
  std::ifstream in(path_of(argc, argv));
  std::string a, b;
  if (!std::getline(in, a) || !std::getline(in, b))
    return 1;
  if (a.size() == 5 && b == "beta")
    hit();
  return tell(a.size());
}
