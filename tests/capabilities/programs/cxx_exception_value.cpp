// Exercises: a value of the input inside an exception
// Input: stdin; seed: 41*4
// Solution: 1eab577e
#include "capability.h"

struct Refused {
  uint32_t code;
};

static NOINLINE void refuse(uint32_t x) { throw Refused{x ^ 0xffff}; }

int main() {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  try {
    refuse(load32(d));
  } catch (const Refused &r) {
    if (r.code == (0x7e57ab1eu ^ 0xffff))
      hit();
    return tell(r.code);
  }
  return 1;
}
