// How far a condition is from being true.
#pragma once

#include "semantics.h"

#include <bit>
#include <cstdint>

namespace sf {

/// A distance is 0 where the condition holds and grows with what is missing,
/// on a scale of logarithms (64 units for each bit), so that distances of
/// conditions of different widths can be added.
using Distance = uint64_t;

constexpr Distance ofMagnitude(uint64_t difference) {
  if (difference == 0)
    return 0;
  unsigned width = unsigned(std::bit_width(difference));
  uint64_t rest = width > 7 ? difference >> (width - 7) : difference << (7 - width);
  return (uint64_t(width) << 6) + (rest & 63);
}

/// Distance of two numbers from being equal, which numerals and sums approach
/// by their difference and codes by their bits.
constexpr Distance ofEquality(uint64_t x, uint64_t y, unsigned bits) {
  uint64_t up = (x - y) & lowBits(bits), down = (y - x) & lowBits(bits);
  return ofMagnitude(up < down ? up : down) + 16 * unsigned(std::popcount(x ^ y));
}

/// Distance of `x op y` from being `wanted`, for a comparison of `bits` bits.
/// An operation that is not listed has two distances: near and far.
constexpr Distance ofComparison(uint8_t op, unsigned bits, uint64_t x, uint64_t y, bool wanted) {
  const uint64_t sign = uint64_t(1) << (bits - 1);
  switch (op) {
  case SF_OP_NE:
    wanted = !wanted;
    [[fallthrough]];
  case SF_OP_EQ:
    return wanted ? ofEquality(x, y, bits) : x == y ? 64 : 0;
  case SF_OP_SLT:
    return ofComparison(SF_OP_ULT, bits, x ^ sign, y ^ sign, wanted);
  case SF_OP_SLE:
    return ofComparison(SF_OP_ULE, bits, x ^ sign, y ^ sign, wanted);
  case SF_OP_ULT:
    return wanted ? (x < y ? 0 : ofMagnitude(x - y + 1)) : x < y ? ofMagnitude(y - x) : 0;
  case SF_OP_ULE:
    return wanted ? (x <= y ? 0 : ofMagnitude(x - y)) : x <= y ? ofMagnitude(y - x + 1) : 0;
  }
  return 64;
}

} // namespace sf
