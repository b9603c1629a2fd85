#include "inversion_in_turn.h"
#include "conjuncts.h"
#include "inversion.h"

#include <algorithm>
#include <ranges>

namespace sf {
namespace {

class Walk {
public:
  Walk(Workbench &shared, std::span<const Condition> all) : bench(shared), parts(all) {}

  std::vector<Condition> broken() {
    bench.evaluator.assume(here);
    std::vector<Condition> open;
    for (const Condition &part : parts)
      if (!bench.evaluator.holds(part))
        open.push_back(part);
    return open;
  }
  /// Go to where one of the parts that are open holds, and most of the others do;
  /// not to where it has been.
  bool repair(std::span<const Condition> open, unsigned ways);
  const Assignment &place() const { return here; }

private:
  Workbench &bench;
  std::span<const Condition> parts;
  Assignment here;
  std::vector<Assignment> been;
};

bool Walk::repair(std::span<const Condition> open, unsigned ways) {
  size_t fewest = parts.size() + 1;
  Assignment best;
  for (const Condition &part : open)
    for (unsigned way = 0; way < ways; ++way) {
      bool last = false;
      bench.evaluator.assume(here);
      auto reached = Inversion::attempt(bench.trace, bench.evaluator, part, {}, way, last);
      if (last)
        break;
      if (!reached)
        continue;
      Assignment there = merged(here, *reached);
      bench.evaluator.assume(there);
      const auto left = size_t(std::ranges::count_if(
          parts, [&](const Condition &other) { return !bench.evaluator.holds(other); }));
      if (left < fewest && bench.evaluator.holds(part) && !std::ranges::count(been, there)) {
        fewest = left;
        best = std::move(there);
      }
    }
  if (fewest > parts.size())
    return false;
  here = std::move(best);
  been.push_back(here);
  return true;
}

} // namespace

Answer InversionInTurn::solve(const Query &query, Workbench &bench) {
  const std::vector<Condition> parts = conjunctsOf(bench.trace, query.goal);
  if (parts.size() < 2 || parts.size() > PartsMax)
    return {};
  Walk walk(bench, parts);
  for (unsigned round = 0; round < RoundsMax; ++round) {
    const std::vector<Condition> open = walk.broken();
    if (open.empty() && bench.accepts(query, walk.place()))
      return {Verdict::Sat, walk.place(), false};
    if (open.empty() || !walk.repair(open, WaysMax))
      return {};
  }
  return {};
}

} // namespace sf
