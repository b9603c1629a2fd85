// Exercises: order of tuples
// Input: stdin; seed: 41*6
// Solution: 4d001e090700
#include "capability.h"

#include <tuple>

int main() {
  uint8_t d[6] = {0};
  take(d, sizeof d);
  auto x = std::make_tuple(load16(d), load32(d + 2));
  auto low = std::make_tuple(uint16_t{77}, 0x7091du),
       high = std::make_tuple(uint16_t{77}, 0x7091fu);
  if (x > low && x < high)
    hit();
  return tell(std::get<0>(x));
}
