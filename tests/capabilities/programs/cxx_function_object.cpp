// Exercises: std::function and lambdas with captures
// Input: stdin; seed: 41*5
// Solution: 01cdc0f000
#include "capability.h"

#include <functional>
#include <vector>

int main() {
  uint8_t d[5] = {0};
  take(d, sizeof d);
  uint32_t add = 0x11;
  std::vector<std::function<uint32_t(uint32_t)>> all{[](uint32_t x) { return x ^ 5; },
                                                     [add](uint32_t x) { return x + add; }};
  uint32_t x = all[d[0] & 1](load32(d + 1));
  if (x == 0x00f0c0de && d[0] == 1)
    hit();
  return tell(x);
}
