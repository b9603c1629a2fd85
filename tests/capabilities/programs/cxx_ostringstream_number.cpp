// Exercises: an unsigned number written into a std::ostringstream
// Input: stdin; seed: 41*4
// Solution: 62600100
#include "capability.h"

#include <sstream>

int main() {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  std::ostringstream out;
  out << "id=" << load32(d) << ';';
  if (out.str() == "id=90210;")
    hit();
  return tell(out.str().size());
}
