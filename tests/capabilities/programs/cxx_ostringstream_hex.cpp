// Exercises: numbers in hexadecimal, and filled up with zeros, in a std::ostringstream
// Input: stdin; seed: 41*4
// Solution: 0abc2a00
#include "capability.h"

#include <iomanip>
#include <sstream>

int main() {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  std::ostringstream out;
  out << std::hex << std::setfill('0') << std::setw(4) << load16(d) << '-' << std::dec
      << std::setw(3) << static_cast<short>(load16(d + 2));
  if (out.str() == "bc0a-042")
    hit();
  return tell(out.str().size());
}
