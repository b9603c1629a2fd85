// Ladder step: queries with floating-point numbers.
#pragma once

#include "query.h"

namespace sf {

/// Z3's bit-vectors know nothing of SF_OP_FLOAT and SF_OP_TEXT, so this step does
/// for them what it does for integers: meet several conditions at once.
///
/// First by repair: push the goal down to the input, look which condition of the
/// slice that breaks, push that one down from there with the bytes just set held
/// fast, and so on. Then several equations together (float_equations.h), all values
/// of few bytes (float_groups.h) and the texts of single numbers (text_search.h). Then downhill:
/// change one number of the input at a time by powers of two of its bits (which for floating-point
/// numbers are steps of neighbours, of fractions and of exponents) as long as the sum of the
/// compares' distances falls. Refutes nothing; the budget is counted in evaluations.
class FloatSearch : public Step {
public:
  const char *name() const override { return "search"; }
  Answer solve(const Query &query, Workbench &bench) override;

private:
  /// Rows below the query, and evaluations of them in all.
  static constexpr size_t RowsMax = 8192;
  static constexpr uint64_t RowRunsMax = 1u << 19;
  static constexpr size_t ConditionsMax = 128;
};

} // namespace sf
