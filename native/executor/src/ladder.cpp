#include "ladder.h"
#include "distance_search.h"
#include "float_search.h"
#include "inversion.h"
#include "inversion_in_turn.h"
#include "linear.h"
#include "meet.h"
#include "scan.h"
#include "smt.h"

namespace sf {

Ladder::Ladder() {
  steps.push_back(std::make_unique<Inversion>());
  steps.push_back(std::make_unique<Scan>());
  steps.push_back(std::make_unique<InversionInTurn>());
  steps.push_back(std::make_unique<FloatSearch>());
  steps.push_back(std::make_unique<Linear>());
  // Most of what reaches Z3 takes a small part of its budget; what does not is
  // of the kinds that the two steps behind know, which cost more than that.
  steps.push_back(std::make_unique<Smt>(Smt::Brief));
  steps.push_back(std::make_unique<Meet>());
  steps.push_back(std::make_unique<DistanceSearch>());
  steps.push_back(std::make_unique<Smt>());
}

Solution Ladder::solve(const Query &query, Workbench &bench, bool optimistic) {
  bench.goalOnly.reset();
  Solution solution;
  for (const auto &step : steps) {
    Answer answer = step->solve(query, bench);
    solution.verdict = answer.verdict;
    solution.byTime = answer.byTime;
    if (answer.verdict == Verdict::Sat) {
      solution.assignment = std::move(answer.assignment);
      solution.how = step->name();
      return solution;
    }
    if (answer.verdict == Verdict::Unsat || answer.isLast)
      break;
  }
  if (optimistic || solution.verdict != Verdict::Unsat)
    tryGoalAlone(query, bench, solution);
  return solution;
}

std::optional<Assignment> Ladder::widen(const Query &query, uint64_t goalSite, Workbench &bench) {
  Query wider{query.goal, query.widened(goalSite)};
  if (wider.slice.size() == query.slice.size())
    return std::nullopt;
  // What the refutation was derived from may have met the goal on its way.
  if (bench.goalOnly && bench.accepts(wider, *bench.goalOnly))
    return bench.goalOnly;
  for (size_t i = 0; i < CheapSteps; ++i) {
    Answer answer = steps[i]->solve(wider, bench);
    if (answer.verdict == Verdict::Sat)
      return std::move(answer.assignment);
    if (answer.verdict == Verdict::Unsat)
      break;
  }
  return std::nullopt;
}

/// Use what an earlier step met on its way, else ask Z3 without the slice.
void Ladder::tryGoalAlone(const Query &query, Workbench &bench, Solution &solution) {
  if (!bench.goalOnly && !query.slice.empty()) {
    Answer answer = steps.back()->solve({query.goal, {}}, bench);
    solution.byTime |= answer.byTime;
    if (answer.verdict == Verdict::Sat)
      bench.goalOnly = std::move(answer.assignment);
  }
  if (bench.goalOnly) {
    solution.assignment = std::move(bench.goalOnly);
    solution.how = "optimistic";
  }
}

} // namespace sf
