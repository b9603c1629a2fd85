// Ladder step 4: follow the distance of comparisons downhill.
#pragma once

#include "query.h"

namespace sf {

/// Minimises the sum of distances (distance.h) of the goal and its slice over
/// the goal's bytes: all 256 values of one byte after the other, the best one
/// kept; from where no single byte helps it goes on after a change of a few
/// bytes by numbers that the query itself decides. The budget is counted in
/// evaluated rows. Refutes nothing.
class DistanceSearch : public Step {
public:
  const char *name() const override { return "search"; }
  Answer solve(const Query &query, Workbench &bench) override;

private:
  static constexpr size_t BytesMax = 32;
  static constexpr size_t RowsMax = 4096;
  static constexpr size_t ConditionsMax = 256;
  /// Rows evaluated for one query, each for 256 inputs.
  static constexpr uint64_t RowRunsMax = 1u << 16;
};

} // namespace sf
