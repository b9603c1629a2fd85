// Exercises: all of std::cin read into the buffer of a std::ostringstream
// Input: stdin; seed: 41*4
// Solution: 696e746f
#include "capability.h"

#include <iostream>
#include <sstream>

int main() {
  std::ostringstream all;
  std::cin >> all.rdbuf();
  if (all.str().size() == 4 && all.str().compare(1, 3, "nto") == 0)
    hit();
  return tell(all.str().size());
}
