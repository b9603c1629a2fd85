// Exercises: std::set and its size
// Input: stdin; seed: 41*6
// Solution: 090507050906
#include "capability.h"

#include <set>

int main() {
  uint8_t d[6] = {0};
  take(d, sizeof d);
  std::set<uint8_t> s(d, d + sizeof d);
  if (s.size() == 4 && *s.begin() == 5 && *s.rbegin() == 9)
    hit();
  return tell(s.size());
}
