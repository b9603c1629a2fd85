// A 64-bit finaliser for hashing words.
#pragma once

#include <cstdint>

namespace sf {

/// SplitMix64's finaliser (Steele, Lea, Flood 2014): a bijection.
constexpr uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr uint64_t mix(uint64_t x, uint64_t y) { return mix(mix(x) ^ y); }

} // namespace sf
