// Exercises: std::from_chars
// Input: stdin; seed: 41*6
// Solution: 2d393735333b
#include "capability.h"

#include <charconv>

int main() {
  char d[7];
  size_t size = take_text(d, sizeof d);
  int x = 0;
  auto [end, error] = std::from_chars(d, d + size, x);
  if (error == std::errc() && x == -9753 && *end == ';')
    hit();
  return tell(static_cast<unsigned>(x));
}
