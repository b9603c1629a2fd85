// One question for the solvers, and how a step answers it.
#pragma once

#include "evaluator.h"
#include "execution_limits.h"
#include "lanes.h"
#include "lengths.h"
#include "path_constraints.h"
#include "trace.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sf {

/// Find an input on which `goal` holds and the path up to it is the same.
struct Query {
  Condition goal;
  std::vector<Condition> slice; // in the order of the path

  /// The slice without what other loops than the goal's said on this path: how
  /// often they turned is often not what matters about them. Less than the
  /// slice only if such a loop is there.
  std::vector<Condition> widened(uint64_t goalSite) const {
    std::vector<Condition> kept;
    for (const Condition &condition : slice)
      if (!condition.loop || condition.site == goalSite)
        kept.push_back(condition);
    return kept;
  }
};

enum class Verdict {
  Sat,     ///< the assignment makes goal and slice true (evaluated)
  Unsat,   ///< proven for this slice; says nothing of the branch elsewhere
  Timeout, ///< a limit of the step was met
  Unknown, ///< the step has nothing to say
};

struct Answer {
  Verdict verdict = Verdict::Unknown;
  Assignment assignment; // with Sat
  bool byTime = false;   // a wall-clock limit decided
  bool isLast = false;   // the steps behind know less of what this query is made of
};

/// What the steps share while they work on one execution.
struct Workbench {
  Workbench(const Trace &recorded, const Limits &bounds)
      : trace(recorded), limits(bounds), evaluator(recorded), lanes(recorded),
        path(recorded, lanes), lengths(recorded) {}

  const Trace &trace;
  const Limits &limits;
  Evaluator evaluator;
  Lanes lanes;
  PathConstraints path;
  Lengths lengths;

  /// The first assignment that met the goal of the current query and broke its
  /// slice: what the optimistic step falls back to.
  std::optional<Assignment> goalOnly;

  /// Evaluate a candidate against goal and slice. Nothing counts before this.
  bool accepts(const Query &query, const Assignment &assignment) {
    evaluator.assume(assignment);
    if (!evaluator.holds(query.goal))
      return false;
    if (evaluator.holdAll(query.slice))
      return true;
    if (!goalOnly)
      goalOnly = assignment;
    return false;
  }
};

/// One way to answer queries. Steps keep no state between queries, so that an
/// answer depends on the query alone.
class Step {
public:
  virtual ~Step() = default;
  /// The word for it in `how`.
  virtual const char *name() const = 0;
  virtual Answer solve(const Query &query, Workbench &bench) = 0;
};

} // namespace sf
