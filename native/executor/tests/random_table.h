// Random valid expression graphs, and a second opinion on their values.
#pragma once

#include "check.h"
#include "evaluator.h"
#include "trace.h"

#include <string>
#include <vector>

namespace sf::test {

inline constexpr unsigned InputBytes = 8;

/// A table of about `count` rows over `bytes` (1 to 8) bytes, all operations used.
RawTable randomTable(Random &random, unsigned count, unsigned bytes = InputBytes);
std::vector<uint8_t> randomInput(Random &random, unsigned bytes = InputBytes);
/// The change that makes this input of any other of its length.
Assignment changeTo(const std::vector<uint8_t> &input);

/// The value of each row by schoolbook means: bit by bit, with wide integers,
/// sharing no code with the engine.
std::vector<uint64_t> referenceValues(const RawTable &table, const std::vector<uint8_t> &input);

std::string describe(const sf_row &row);

} // namespace sf::test
