// Exercises: templates with arguments that are expanded
// Input: stdin; seed: 41*4
// Solution: 04030201
#include "capability.h"

template <typename T> static T join(T x) { return x; }
template <typename T, typename... Rest> static T join(T x, Rest... rest) {
  return x * 7 + join<T>(rest...);
}

int main() {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint64_t x = join<uint64_t>(d[0], d[1] * 1000ull, d[2] * 1000000ull, d[3] * 1000000000ull);
  if (x == 28 + 21000 + 14000000 + 1000000000ull)
    hit();
  return tell(x);
}
