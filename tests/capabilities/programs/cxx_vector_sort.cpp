// Exercises: std::sort over a std::vector
// Input: stdin; seed: 41*4
// Solution: fa076301
#include "capability.h"

#include <algorithm>
#include <vector>

int main() {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  std::vector<uint8_t> v(d, d + sizeof d);
  std::sort(v.begin(), v.end());
  if (v[0] == 1 && v[1] == 7 && v[2] == 99 && v[3] == 250 && d[0] == 250)
    hit();
  return tell(v[0]);
}
