// Exercises: std::regex
// Input: stdin; seed: 41*6
// Solution: 69643d343037
#include "capability.h"

#include <regex>

int main() {
  char d[7];
  take_text(d, sizeof d);
  static const std::regex pattern("id=[0-9]{3}");
  if (std::regex_match(d, pattern))
    hit();
  return tell(d[0] == 'i');
}
