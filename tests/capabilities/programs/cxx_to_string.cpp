// Exercises: std::to_string
// Input: stdin; seed: 41*4
// Solution: 94510100
#include "capability.h"

#include <string>

int main() {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  std::string s = std::to_string(load32(d));
  if (s == "86420")
    hit();
  return tell(s.size());
}
