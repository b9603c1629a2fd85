// Exercises: std::string_view: prefix and pieces
// Input: stdin; seed: 41*8
// Solution: 474554202f783f20
#include "capability.h"

#include <string_view>

int main() {
  char d[9];
  size_t size = take_text(d, sizeof d);
  std::string_view s(d, size);
  if (s.substr(0, 5) == "GET /" && s.find('?') == 6)
    hit();
  return tell(s.size());
}
