// Exercises: std::string: find_first_of, find_last_not_of
// Input: stdin; seed: 41*12
// Solution: 41413f414141 2f*4 2020
#include "capability.h"

#include <string>

int main() {
  char d[13];
  size_t size = take_text(d, sizeof d);
  std::string s(d, size);
  if (s.find_first_of("?#") == 2 && s.find_last_not_of(" ") == 9 && s[9] == '/')
    hit();
  return tell(s.find_first_of("?#") == std::string::npos);
}
