// Texts of numbers: what strtod should be given so that it gives a number.
#pragma once

#include "float_semantics.h"

#include <string>
#include <vector>

namespace sf {

/// Texts of exactly the size of `present` (the row's characters now) from which
/// an SF_OP_TEXT row reads `wanted`: the number itself, or how long it is. Only
/// positions that are set in `free` differ from `present`. The most natural
/// first, each of them evaluated.
std::vector<std::string> textsFor(const sf_row &row, const std::string &present,
                                  const std::vector<bool> &free, Number wanted);

} // namespace sf
