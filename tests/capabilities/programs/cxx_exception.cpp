// Exercises: an exception that is thrown on a condition
// Input: stdin; seed: 4141
// Solution: 96c9
#include "capability.h"

#include <stdexcept>

static NOINLINE int check(int x) {
  if (x == 99)
    throw std::runtime_error("ninety-nine");
  return x;
}

int main() {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  try {
    return tell(static_cast<unsigned>(check(d[0] * 2 - d[1])));
  } catch (const std::runtime_error &) {
    hit();
  }
}
