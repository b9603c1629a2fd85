// Exercises: lines from std::cin
// Input: stdin; seed: 41*10
// Solution: 6c696e65310a7965730a
#include "capability.h"

#include <iostream>
#include <string>

int main() {
  std::string line;
  unsigned lines = 0;
  while (std::getline(std::cin, line)) {
    lines++;
    if (lines == 2 && line == "yes")
      hit();
  }
  return tell(lines);
}
