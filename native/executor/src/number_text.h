// Texts of numbers: what strtod should be given so that it gives a number.
#pragma once

#include "float_semantics.h"

#include <functional>
#include <string>
#include <vector>

namespace sf {

/// Texts of exactly the size of `present` (the row's characters now) from which
/// an SF_OP_TEXT row reads `wanted`: the number itself, or how long it is. Only
/// positions that are set in `free` differ from `present`. The most natural
/// first, each of them evaluated.
std::vector<std::string> textsFor(const sf_row &row, const std::string &present,
                                  const std::vector<bool> &free, Number wanted);

/// The same for a number from `least` to `most`, the shortest decimals first:
/// where any number of an interval will do, most of them need more characters
/// than there are. `visit` is called with each text until it says stop.
void visitTextsWithin(const sf_row &row, const std::string &present, const std::vector<bool> &free,
                      Number least, Number most,
                      const std::function<bool(const std::string &)> &visit);

} // namespace sf
