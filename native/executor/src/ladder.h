// The chain of solvers, cheapest first.
#pragma once

#include "query.h"

#include <array>
#include <memory>
#include <vector>

namespace sf {

/// How a query ended, over all steps.
struct Solution {
  Verdict verdict = Verdict::Unknown; ///< for goal and slice together
  bool byTime = false;
  /// An input to try: with Sat the solution, else an optimistic one (or none).
  std::optional<Assignment> assignment;
  const char *how = nullptr; ///< which step made it
};

/// Runs a query down the steps: inversion, scan, inversion of parts in turn, search
/// among floating-point numbers, linear equations, Z3 for a moment, meeting in the middle, search
/// by distance, Z3. When none meets goal and slice together, the optimistic step tries the goal
/// alone: path conditions are often stricter than the program (loop counts, values made concrete).
class Ladder {
public:
  Ladder();

  /// `optimistic` allows the last step after a refutation too; without it only
  /// queries that stay open get it.
  Solution solve(const Query &query, Workbench &bench, bool optimistic);

  /// Whether the goal can be met when loops may turn as often as they like
  /// (`Query::widened`): after a refutation, an input that is worth a run.
  std::optional<Assignment> widen(const Query &query, uint64_t goalSite, Workbench &bench);

private:
  static constexpr size_t CheapSteps = 5; // up to the brief Z3
  void tryGoalAlone(const Query &query, Workbench &bench, Solution &solution);

  std::vector<std::unique_ptr<Step>> steps;
};

} // namespace sf
