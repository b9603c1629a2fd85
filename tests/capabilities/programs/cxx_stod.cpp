// Exercises: std::stod
// Input: stdin; seed: 41*6
// Solution: 362e30363235
#include "capability.h"

#include <stdexcept>
#include <string>

int main() {
  char d[7];
  size_t size = take_text(d, sizeof d);
  try {
    double x = std::stod(std::string(d, size));
    if (x == 6.0625)
      hit();
    return tell(x > 1.0);
  } catch (const std::logic_error &) {
    return tell(9);
  }
}
