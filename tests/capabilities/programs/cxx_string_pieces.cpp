// Exercises: std::string: append, insert, erase
// Input: stdin; seed: 41*8
// Solution: 6b6579666f757221
#include "capability.h"

#include <string>

int main() {
  char d[9];
  size_t size = take_text(d, sizeof d);
  std::string s(d, size), all;
  all.append(s, 0, 3).append("=").append(s, 3);
  all.insert(0, "<");
  all.erase(all.size() - 1);
  if (all == "<key=four")
    hit();
  return tell(all.size());
}
