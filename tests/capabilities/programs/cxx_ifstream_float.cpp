// Exercises: float and long double from a std::ifstream
// Input: file; seed: 41*6
// Solution: 2d302e352c3265330a
#include "capability.h"

#include <fstream>

int main(int argc, char **argv) {
  std::ifstream in(path_of(argc, argv));
  float first = 0;
  long double second = 0;
  char comma = 0;
  if (!(in >> first >> comma >> second) || comma != ',')
    return 1;
  if (first == -0.5F && second > 1999.0L && second < 2001.0L)
    hit();
  return tell(static_cast<unsigned>(comma));
}
