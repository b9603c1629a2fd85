// Exercises: std::unordered_map with numbers as keys
// Input: stdin; seed: 4141
// Solution: 5110
#include "capability.h"

#include <unordered_map>

int main() {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  const std::unordered_map<unsigned, int> m{{7, 1}, {300, 2}, {4177, 3}, {60000, 4}};
  auto at = m.find(load16(d));
  if (at != m.end() && at->second == 3)
    hit();
  return tell(at != m.end());
}
