// Exercises: std::string, equality
// Input: stdin; seed: 41*8
// Solution: 70617373776f7264
#include "capability.h"

#include <string>

int main() {
  char d[9];
  size_t size = take_text(d, sizeof d);
  std::string s(d, size);
  if (s == "password")
    hit();
  return tell(s.size());
}
