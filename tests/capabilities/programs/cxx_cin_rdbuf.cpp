// Exercises: all of std::cin through its buffer into a std::stringstream
// Input: stdin; seed: 41*5
// Solution: 77686f6c65
#include "capability.h"

#include <iostream>
#include <sstream>

int main() {
  std::stringstream all;
  all << std::cin.rdbuf();
  if (all.str() == "whole")
    hit();
  return tell(all.str().size());
}
