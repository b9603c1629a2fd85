// Exercises: numbers of several types, also in hexadecimal, from a std::istringstream
// Input: stdin; seed: 41*16
// Solution: 2d372036303030302038303030303030303030
#include "capability.h"

#include <sstream>
#include <string>

int main() {
  char d[33];
  size_t size = take_text(d, sizeof d);
  std::istringstream in(std::string(d, size));
  short a = 0;
  unsigned short b = 0;
  long c = 0;
  if (in >> a >> b >> c && a == -7 && b == 60000 && c == 8000000000)
    hit();
  return tell(static_cast<unsigned>(b));
}
