// Exercises: std::string: find, rfind, substr
// Input: stdin; seed: 41*12
// Solution: 41*4 3a3a6e616d654141
#include "capability.h"

#include <string>

int main() {
  char d[13];
  size_t size = take_text(d, sizeof d);
  std::string s(d, size);
  size_t at = s.find("::");
  if (at == 4 && s.substr(at + 2, 4) == "name" && s.rfind('n') == 6)
    hit();
  return tell(at == std::string::npos);
}
