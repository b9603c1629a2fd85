// Exercises: all of std::cin through std::istreambuf_iterator
// Input: stdin; seed: 41*4
// Solution: 616c6c21
#include "capability.h"

#include <iostream>
#include <iterator>
#include <string>

int main() {
  const std::string all(std::istreambuf_iterator<char>(std::cin), {});
  if (all == "all!")
    hit();
  return tell(static_cast<unsigned>(all.size()));
}
