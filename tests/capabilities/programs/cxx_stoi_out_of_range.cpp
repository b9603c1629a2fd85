// Exercises: std::stoi throws out_of_range
// Input: stdin; seed: 31*12
// Solution: 32*12
#include "capability.h"

#include <stdexcept>
#include <string>

int main() {
  char d[13];
  size_t size = take_text(d, sizeof d);
  if (size != 12 || d[11] != '2')
    return 1;
  try {
    return tell(static_cast<unsigned>(std::stoi(std::string(d, size))));
  } catch (const std::out_of_range &) {
    if (d[0] == '2' && d[5] == '2')
      hit();
    return tell(2);
  } catch (const std::invalid_argument &) {
    return tell(1);
  }
}
