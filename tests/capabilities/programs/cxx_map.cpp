// Exercises: std::map with strings as keys
// Input: stdin; seed: 414141
// Solution: 64656c
#include "capability.h"

#include <map>
#include <string>

int main() {
  char d[4];
  size_t size = take_text(d, sizeof d);
  const std::map<std::string, int> m{{"get", 1}, {"put", 2}, {"del", 3}, {"add", 4}};
  auto at = m.find(std::string(d, size));
  if (at != m.end() && at->second == 3)
    hit();
  return tell(at != m.end());
}
