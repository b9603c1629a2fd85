// Exercises: std::atomic of 64 bits between two threads
// Input: stdin; seed: 41*8
// Solution: 8877665544332211
#include "capability.h"

#include <atomic>
#include <thread>

int main() {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  std::atomic<uint64_t> a{0};
  std::thread t([&] { a.store(load64(d)); });
  t.join();
  if (a.exchange(1) == 0x1122334455667788u)
    hit();
  return tell(a.load());
}
