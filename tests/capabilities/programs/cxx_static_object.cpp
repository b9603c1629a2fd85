// Exercises: an object whose constructor reads the input before main
// Input: stdin; seed: 41*4
// Solution: 1ca75700
#include "capability.h"

struct Input {
  uint8_t bytes[4] = {0};
  Input() { take(bytes, sizeof bytes); }
};

static Input input;

int main() {
  if (load32(input.bytes) == 0x57a71c)
    hit();
  return tell(input.bytes[0]);
}
