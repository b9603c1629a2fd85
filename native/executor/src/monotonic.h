// The clock of limits and durations.
#pragma once

#include <cstdint>
#include <ctime>

namespace sf {

inline uint64_t monotonicUs() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000 + uint64_t(now.tv_nsec) / 1000;
}

} // namespace sf
