// Exercises: destructors that run while an exception passes
// Input: stdin; seed: 41*4
// Solution: 03010702
#include "capability.h"

#include <stdexcept>

static unsigned trace;

struct Guard {
  unsigned value;
  explicit Guard(unsigned x) : value(x) {}
  ~Guard() { trace = trace * 10 + value; }
};

static NOINLINE void deep(const uint8_t *d, unsigned i) {
  Guard g(d[i]);
  if (i == 3)
    throw std::logic_error("end");
  deep(d, i + 1);
}

int main() {
  uint8_t d[4] = {0};
  take(d, sizeof d);
  try {
    deep(d, 0);
  } catch (const std::exception &) {
    if (trace == 2713)
      hit();
  }
  return tell(trace);
}
