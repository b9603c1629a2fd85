// Exercises: std::stoi
// Input: stdin; seed: 41*5
// Solution: 3430373132
#include "capability.h"

#include <stdexcept>
#include <string>

int main() {
  char d[6];
  size_t size = take_text(d, sizeof d);
  try {
    int x = std::stoi(std::string(d, size));
    if (x == 40712)
      hit();
    return tell(static_cast<unsigned>(x));
  } catch (const std::invalid_argument &) {
    return tell(1);
  }
}
