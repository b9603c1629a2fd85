// Exercises: a number from std::cin
// Input: stdin; seed: 41*7
// Solution: 39383736353433
#include "capability.h"

#include <iostream>

int main() {
  int x = 0;
  if (std::cin >> x && x == 9876543)
    hit();
  return tell(static_cast<unsigned>(x));
}
