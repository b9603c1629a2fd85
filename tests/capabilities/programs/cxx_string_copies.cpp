// Exercises: a text whose size is the input's, copied from string to string before it is read
// Input: stdin; seed: 41*12
// Solution: 6b65793d3330302c41414141
#include "capability.h"

#include <string>
#include <vector>

int main() {
  char d[13];
  size_t size = fread(d, 1, 12, stdin);
  std::vector<char> first(d, d + size);
  std::string second(first.begin(), first.end());
  std::string third = second + ";";
  size_t at = third.find('=');
  if (at == 3 && third.compare(0, 3, "key") == 0 && strtol(third.c_str() + 4, nullptr, 10) == 300)
    hit();
  return tell(at);
}
