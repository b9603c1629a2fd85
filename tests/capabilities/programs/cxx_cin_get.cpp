// Exercises: single characters from std::cin
// Input: stdin; seed: 41*4
// Solution: 67 21 20 74
#include "capability.h"

#include <iostream>

int main() {
  char b = 0, c = 0;
  int a = std::cin.get();
  std::cin.get(b);
  std::cin >> c;
  if (a == 'g' && b == '!' && c == 't')
    hit();
  return tell(static_cast<unsigned>(a));
}
