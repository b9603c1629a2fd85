// Ladder step 3, for what is not linear: forwards and backwards to the middle.
#pragma once

#include "query.h"

namespace sf {

/// Hashes and products, whose equations no rule turns around as a whole: the
/// chain of operations from the equation down (spine.h) is cut where the bytes
/// below the cut and those that enter above it are disjoint. All values of the
/// bytes above give what is wanted at the cut, all values of the bytes below
/// give what is to be had there, and a solution is where both agree: for four
/// bytes that is two times 2^16 computations and not 2^32.
///
/// Bytes take the values that the path allows them. Where there are too many
/// for the counted budget, some stay as they are. What was tried completely
/// without agreement is refuted.
class Meet : public Step {
public:
  const char *name() const override { return "meet"; }
  Answer solve(const Query &query, Workbench &bench) override;
};

} // namespace sf
