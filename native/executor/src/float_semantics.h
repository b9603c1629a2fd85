// The meaning of SF_OP_FLOAT and SF_OP_TEXT rows.
#pragma once

#include "symfleet/abi.h"

#include <array>
#include <cstdint>
#include <string>

namespace sf {

/// Values of the operands a, b, c, d of a row.
using FourValues = std::array<uint64_t, 4>;

/// Tell whether a, b, c and the low half of k are labels, or 0.
constexpr bool hasFourOperands(uint8_t op) { return op == SF_OP_FLOAT || op == SF_OP_TEXT; }

/// The i-th operand of such a row.
constexpr uint32_t operandOf(const sf_row &row, unsigned i) {
  return i == 0 ? row.a : i == 1 ? row.b : i == 2 ? row.c : uint32_t(row.k);
}

/// Bits of a number in any format; `high` is used by SF_X87 only.
struct Number {
  uint64_t low = 0;
  uint16_t high = 0;
  bool operator==(const Number &) const = default;
};

constexpr unsigned widthOfFormat(unsigned format) {
  return format == SF_HALF ? 16 : format == SF_SINGLE ? 32 : format == SF_DOUBLE ? 64 : 80;
}

/// How many numbers a function takes (an integer or a mask counts as one).
unsigned floatArity(unsigned function);
/// Tell whether the result is a number rather than a bit or an integer.
bool givesNumber(unsigned function);
/// Tell whether the operands are integers.
constexpr bool takesInteger(unsigned function) {
  return function == SF_FN_FROM_SINT || function == SF_FN_FROM_UINT;
}
/// Width that the i-th operand of an SF_OP_FLOAT row must have; 0: there is none.
unsigned floatOperandWidth(uint16_t aux, unsigned i);
/// Tell whether a row's width fits what it computes.
bool floatWidthFits(uint16_t aux, unsigned bits);
bool textWidthFits(uint16_t aux, unsigned bits);

/// Compute a row of either op on the values of its operands, as x86-64 and the
/// C library of this host do.
uint64_t applyFloat(const sf_row &row, const FourValues &values);

/// The characters of an SF_OP_TEXT row.
std::string textOf(const sf_row &row, const FourValues &values);

/// A number in any format as a long double, which holds them all.
long double valueOf(Number number, unsigned format);
Number numberOf(long double value, unsigned format);

/// Position on the line of a format's numbers, from the most negative to the
/// largest; neighbours differ by one. -0 is below +0, what is no number is
/// beyond the infinities.
__int128 positionOf(Number number, unsigned format);
Number numberAt(__int128 position, unsigned format);

} // namespace sf
