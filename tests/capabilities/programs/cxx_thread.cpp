// Exercises: std::thread with a reference to the input
// Input: stdin; seed: 41*4
// Solution: 55330000
#include "capability.h"

#include <thread>

int main() {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  uint32_t x = load32(d), y = 0;
  std::thread t([&] { y = x * 3 + 1; });
  t.join();
  if (y == 0x3355 * 3 + 1)
    hit();
  return tell(y);
}
