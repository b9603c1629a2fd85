// Exercises: a truth value written as a word into a std::ostringstream
// Input: stdin; seed: 41
// Solution: 70
#include "capability.h"

#include <sstream>

int main() {
  uint8_t d[1] = {0};
  take(d, sizeof d);
  std::ostringstream out;
  out << std::boolalpha << (d[0] == 'p');
  if (out.str() == "true")
    hit();
  return tell(out.str().size());
}
