// Exercises: numbers read from a std::ifstream with >>
// Input: file; seed: 41*8
// Solution: 313220363534330a
#include "capability.h"

#include <fstream>

int main(int argc, char **argv) {
  std::ifstream in(path_of(argc, argv));
  int a = 0, b = 0;
  in >> a >> b;
  if (a == 12 && b == 6543)
    hit();
  return tell(static_cast<unsigned>(a));
}
