// Exercises: pointers to members
// Input: stdin; seed: 41*5
// Solution: 019b9e0000
#include "capability.h"

struct Machine {
  uint32_t state;
  uint32_t add(uint32_t x) { return state += x; }
  uint32_t mix(uint32_t x) { return state ^= x * 3; }
};

int main() {
  uint8_t d[5] = {0};
  take(d, sizeof d);
  uint32_t (Machine::*const table[])(uint32_t) = {&Machine::add, &Machine::mix};
  Machine m{0x5a5a};
  uint32_t x = (m.*table[d[0] & 1])(load32(d + 1));
  if (x == ((0x9e9b * 3) ^ 0x5a5a) && d[0] == 1)
    hit();
  return tell(x);
}
