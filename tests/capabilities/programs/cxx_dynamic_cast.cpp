// Exercises: multiple inheritance and dynamic_cast
// Input: stdin; seed: 41*5
// Solution: 4257cad100
#include "capability.h"

struct Named {
  virtual ~Named() = default;
};
struct Valued {
  uint32_t value = 0;
  virtual ~Valued() = default;
};
struct Both : Named, Valued {};

int main() {
  uint8_t d[5] = {0};
  take(d, sizeof d);
  Both both;
  Named plain;
  both.value = load32(d + 1);
  Named *named = d[0] == 'B' ? static_cast<Named *>(&both) : &plain;
  auto *valued = dynamic_cast<Valued *>(named);
  if (valued && valued->value == 0xd1ca57)
    hit();
  return tell(valued != nullptr);
}
