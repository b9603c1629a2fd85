// Exercises: std::stof and the place where it ends
// Input: stdin; seed: 41*6
// Solution: 2d322e357821
#include "capability.h"

#include <stdexcept>
#include <string>

int main() {
  char d[7];
  size_t size = take_text(d, sizeof d), end = 0;
  try {
    float x = std::stof(std::string(d, size), &end);
    if (x == -2.5f && d[end] == 'x')
      hit();
    return tell(x > 1.0f);
  } catch (const std::logic_error &) {
    return tell(9);
  }
}
