// The meaning of SF_OP_FLOAT and SF_OP_TEXT rows.
#pragma once

#include "float_formats.h"
#include "float_operands.h"

#include <string>

namespace sf {

/// Compute a row of either op on the values of its operands, as x86-64 and the
/// C library of this host do.
uint64_t applyFloat(const sf_row &row, const FourValues &values);

/// The characters of an SF_OP_TEXT row.
std::string textOf(const sf_row &row, const FourValues &values);

} // namespace sf
