// Does the engine work on this host at all?
#pragma once

#include <string>

namespace sf {

/// Solve a small question with every step and compare with known answers.
/// Answers what is wrong, or an empty string.
std::string selftest();

} // namespace sf
