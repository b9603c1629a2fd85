// The operands and the widths of SF_OP_FLOAT and SF_OP_TEXT rows.
#pragma once

#include "symfleet/abi.h"

#include <array>
#include <cstdint>

namespace sf {

/// Values of the operands a, b, c, d of a row.
using FourValues = std::array<uint64_t, 4>;

/// Tell whether a, b, c and the low half of k are labels, or 0.
constexpr bool hasFourOperands(uint8_t op) { return op == SF_OP_FLOAT || op == SF_OP_TEXT; }

/// The i-th operand of such a row.
constexpr uint32_t operandOf(const sf_row &row, unsigned i) {
  return i == 0 ? row.a : i == 1 ? row.b : i == 2 ? row.c : uint32_t(row.k);
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

} // namespace sf
