// Numbers in the formats of SF_OP_FLOAT rows.
#pragma once

#include "symfleet/abi.h"

#include <cstdint>

namespace sf {

/// Bits of a number in any format; `high` is used by SF_X87 only.
struct Number {
  uint64_t low = 0;
  uint16_t high = 0;
  bool operator==(const Number &) const = default;
};

constexpr unsigned widthOfFormat(unsigned format) {
  return format == SF_HALF ? 16 : format == SF_SINGLE ? 32 : format == SF_DOUBLE ? 64 : 80;
}

/// A number in any format as a long double, which holds them all.
long double valueOf(Number number, unsigned format);
Number numberOf(long double value, unsigned format);

/// Position on the line of a format's numbers, from the most negative to the
/// largest; neighbours differ by one. -0 is below +0, what is no number is
/// beyond the infinities.
__int128 positionOf(Number number, unsigned format);
Number numberAt(__int128 position, unsigned format);

} // namespace sf
