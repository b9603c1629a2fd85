// Exercises: std::string, order
// Input: stdin; seed: 41*8
// Solution: 6d616e676e7e7e7e
#include "capability.h"

#include <string>

int main() {
  char d[9];
  size_t size = take_text(d, sizeof d);
  std::string s(d, size), low = "mangn", high = "mango";
  if (s > low && s < high && s.back() == '~')
    hit();
  return tell(s < low);
}
