// Exercises: std::bitset
// Input: stdin; seed: 4141
// Solution: 77b7
#include "capability.h"

#include <bitset>

int main() {
  uint8_t d[2] = {0};
  take(d, sizeof d);
  std::bitset<16> bits(load16(d));
  if (bits.count() == 12 && !bits.test(3) && !bits.test(7) && !bits.test(11) && !bits.test(14))
    hit();
  return tell(bits.count());
}
