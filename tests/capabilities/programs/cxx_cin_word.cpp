// Exercises: words from std::cin
// Input: stdin; seed: 41*10
// Solution: 6f70656e20646f6f7221
#include "capability.h"

#include <iostream>
#include <string>

int main() {
  std::string a, b;
  std::cin >> a >> b;
  if (a == "open" && b == "door!")
    hit();
  return tell(a.size());
}
