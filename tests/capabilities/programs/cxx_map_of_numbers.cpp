// Exercises: std::map with numbers as keys that is filled and searched
// Input: stdin; seed: 41*4
// Solution: 88130000
#include "capability.h"

#include <map>

int main() {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  std::map<uint32_t, int> m;
  for (uint32_t i = 1; i <= 20; i++)
    m[i * 500] = static_cast<int>(i);
  auto at = m.find(load32(d));
  if (at != m.end() && at->second == 10)
    hit();
  return tell(at != m.end());
}
