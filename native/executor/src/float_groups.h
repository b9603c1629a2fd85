// Conditions that share no bytes, each group of them for itself.
#pragma once

#include "query.h"

namespace sf {

/// Meets `conditions` by going through all values of one or two bytes.
///
/// A conjunction of conditions on several small numbers is few questions of its
/// own: those that share no byte do not disturb each other. Answers false when a
/// group that is broken reads more than two bytes, or has no solution.
bool searchGroups(const Query &query, Workbench &bench, std::span<const Condition> conditions,
                  Assignment &answer);

} // namespace sf
