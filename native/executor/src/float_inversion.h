// Floating-point operations backwards: which operand gives a wanted result.
#pragma once

#include "float_semantics.h"

#include <vector>

namespace sf {

/// Numbers (or, for an integer operand, integers in `low`) that the operand
/// number `side` of an SF_OP_FLOAT row may have so that the row's function gives
/// `wanted`, the other operands being as in `values`. A few of them, the most
/// plausible first, each of them evaluated; none when none was found.
///
/// A formula gives the first guess, since most functions have an inverse up to
/// rounding. Where it fails, places where the function passes the wanted value
/// are looked for on a coarse line and narrowed by halving. With a wanted value
/// that is not a number any such result will do.
std::vector<Number> operandsFor(const sf_row &row, const FourValues &values, unsigned side,
                                Number wanted);

/// The whole result of a row whose function gives a number: both parts.
Number numberGiven(const sf_row &row, const FourValues &values);

/// Where the parts of the operand number `side` are among the four.
unsigned firstPartOf(const sf_row &row, unsigned side);
/// Whether that operand is a number of the row's format, not an integer.
bool isNumberOperand(const sf_row &row, unsigned side);

} // namespace sf
