// Exercises: a value that a std::future carries
// Input: stdin; seed: 41*4
// Solution: 1c5f0a00
#include "capability.h"

#include <future>

int main() {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  std::promise<uint32_t> promise;
  std::future<uint32_t> future = promise.get_future();
  std::thread t([&] { promise.set_value(load32(d) + 4); });
  t.join();
  uint32_t x = future.get();
  if (x == 0xa5f1c + 4)
    hit();
  return tell(x);
}
