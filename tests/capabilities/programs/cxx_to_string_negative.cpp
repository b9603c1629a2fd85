// Exercises: std::to_string of a negative number
// Input: stdin; seed: 41*4
// Solution: 85ffffff
#include "capability.h"

#include <string>

int main() {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  std::string s = std::to_string(static_cast<int>(load32(d)));
  if (s == "-123")
    hit();
  return tell(s.size());
}
