// Exercises: a number read with std::hex, and a character behind it
// Input: stdin; seed: 41*8
// Solution: 63306465 2c 41*3
#include "capability.h"

#include <iostream>

int main() {
  unsigned x = 0;
  char c = 0;
  if (std::cin >> std::hex >> x >> c && x == 0xc0de && c == ',')
    hit();
  return tell(x);
}
