// Exercises: a negative number between words in a std::stringstream
// Input: stdin; seed: 41*8
// Solution: 007afcd6feffffff
#include "capability.h"

#include <sstream>
#include <string>

int main() {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  std::stringstream text;
  text << "x=" << static_cast<long>(load64(d)) << " m";
  if (text.str() == "x=-4983064064 m")
    hit();
  return tell(text.str().size());
}
