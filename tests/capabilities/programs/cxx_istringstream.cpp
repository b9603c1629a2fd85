// Exercises: words and numbers from a std::istringstream
// Input: stdin; seed: 41*10
// Solution: 6c656674203737204141
#include "capability.h"

#include <sstream>
#include <string>

int main() {
  char d[11];
  size_t size = take_text(d, sizeof d);
  std::istringstream in(std::string(d, size));
  std::string word;
  int number = 0;
  in >> word >> number;
  if (word == "left" && number == 77)
    hit();
  return tell(word.size());
}
