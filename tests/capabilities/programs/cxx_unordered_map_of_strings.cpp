// Exercises: std::unordered_map with strings as keys, whose hash is in the library
// Input: stdin; seed: 41*4
// Solution: 706f7374
#include "capability.h"

#include <string>
#include <unordered_map>

int main() {
  char d[5];
  size_t size = take_text(d, sizeof d);
  const std::unordered_map<std::string, int> m{{"get", 1}, {"head", 2}, {"post", 3}};
  auto at = m.find(std::string(d, size));
  if (at != m.end() && at->second == 3)
    hit();
  return tell(at != m.end());
}
