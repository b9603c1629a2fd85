// Exercises: std::search, std::count, std::accumulate
// Input: stdin; seed: 41*10
// Solution: 4141416e6565646c6541
#include "capability.h"

#include <algorithm>
#include <numeric>
#include <string>

int main() {
  char d[11];
  size_t size = take_text(d, sizeof d);
  const std::string needle = "needle";
  auto at = std::search(d, d + size, needle.begin(), needle.end());
  if (at == d + 3 && std::count(d, d + size, 'e') == 3)
    hit();
  return tell(static_cast<unsigned>(std::accumulate(d, d + size, 0)));
}
