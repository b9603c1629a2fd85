// A number in the input's text, searched for as a number.
#pragma once

#include "query.h"

#include <optional>
#include <vector>

namespace sf {

/// The SF_OP_TEXT rows of one number; `high` is 0 unless it has two parts.
struct TextNumber {
  uint32_t low, high;
};

/// Meets conditions by the text of one number, all else staying as it is.
///
/// Of the numbers between two borders most need more digits than there is room
/// for, so no single one of them is wanted. First the number is treated as one of
/// the input, without its text, and moved along the line of its format until the
/// conditions hold. Then the borders of the interval in which they hold are looked
/// for, and its texts are tried, the shortest first. Answers false when none fits.
/// Each evaluation of the conditions takes one from `budget`.
bool searchText(const Query &query, Workbench &bench, std::span<const Condition> conditions,
                TextNumber number, uint64_t &budget, Assignment &answer);

/// An input with other texts in the place of numbers that the goal reads, so that goal
/// and slice hold as far as they say something of the numbers' values. Its size may
/// change, and what is behind a number stays behind it.
std::optional<std::vector<uint8_t>> withTextsReplaced(const Query &query, Workbench &bench);

} // namespace sf
