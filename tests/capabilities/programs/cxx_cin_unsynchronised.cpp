// Exercises: std::cin that does not share the buffer of stdin
// Input: stdin; seed: 41*6
// Solution: 666173743432
#include "capability.h"

#include <iostream>

int main() {
  std::ios::sync_with_stdio(false);
  char d[6] = {0};
  std::cin.read(d, sizeof d);
  if (memcmp(d, "fast42", 6) == 0)
    hit();
  std::cout << std::cin.gcount() << '\n';
  return static_cast<unsigned char>(d[0]) & 31;
}
