#include "distance_search.h"
#include "conjuncts.h"
#include "distance.h"
#include "scope.h"

namespace sf {
namespace {

/// A part of the goal or of the slice, with what its distance is computed from.
struct Measure {
  Condition condition;
  uint8_t op = SF_OP_INVALID; // a comparison of left and right; else left against the value
  Term left, right;
  unsigned bits = 1;
  bool goal = false;
};

Measure measureOf(const Trace &trace, const Condition &condition, bool goal) {
  const sf_row &row = trace.rows[condition.label];
  if (isComparison(row.op))
    return {condition, row.op, {row.a, row.k}, {row.b, row.k}, row.aux, goal};
  return {condition, SF_OP_INVALID, {condition.label, 0}, {}, row.bits, goal};
}

class Downhill {
public:
  Downhill(const Query &wanted, Workbench &shared, const Scope &bytes)
      : query(wanted), bench(shared), scope(bytes), random(shared.trace, wanted.goal) {}

  bool prepare(std::span<const Condition> goalParts, std::span<const Condition> others,
               size_t rowsMax);
  Answer run(uint64_t budget);

private:
  static constexpr Distance Weight = 4; // of the goal against the path
  static constexpr unsigned StallsMax = 6;

  Distance distanceIn(unsigned lane) const;
  bool improve(size_t byte);
  void disturb();
  uint64_t costOfRun() const { return bench.lanes.cost() + measures.size(); }

  const Query &query;
  Workbench &bench;
  const Scope &scope;
  QueryRandom random;
  std::vector<Measure> measures;
  std::vector<uint8_t> point; // where the search stands
  std::vector<Lanes::Bytes> columns;
  Distance here = 0;
  uint64_t spent = 0;
};

bool Downhill::prepare(std::span<const Condition> goalParts, std::span<const Condition> others,
                       size_t rowsMax) {
  measures.clear();
  for (const Condition &part : goalParts)
    measures.push_back(measureOf(bench.trace, part, true));
  for (const Condition &other : others)
    measures.push_back(measureOf(bench.trace, other, false));
  std::vector<uint32_t> labels;
  for (const Measure &measure : measures)
    for (const Term &term : {measure.left, measure.right})
      if (term.label)
        labels.push_back(term.label);
  return bench.lanes.prepare(labels, scope.bytes, rowsMax);
}

Distance Downhill::distanceIn(unsigned lane) const {
  Distance sum = 0;
  for (const Measure &measure : measures) {
    const uint64_t x = valueIn(bench, measure.left, lane);
    Distance one =
        measure.op == SF_OP_INVALID
            ? ofEquality(x, measure.condition.value, measure.bits)
            : ofComparison(measure.op, measure.bits, x, valueIn(bench, measure.right, lane),
                           measure.condition.value != 0);
    sum += measure.goal ? Weight * one : one;
  }
  return sum;
}

/// Give a byte its best value. Answers whether that is nearer.
bool Downhill::improve(size_t byte) {
  const std::vector<uint8_t> &values = scope.values[byte];
  if (values.empty())
    return false;
  for (unsigned lane = 0; lane < Lanes::Width; ++lane)
    columns[byte][lane] = values[lane % values.size()];
  bench.lanes.compute(columns);
  spent += costOfRun();
  unsigned best = Lanes::Width;
  Distance least = here;
  for (unsigned lane = 0; lane < values.size(); ++lane)
    if (Distance distance = distanceIn(lane); distance < least) {
      least = distance;
      best = lane;
    }
  if (best < Lanes::Width) {
    point[byte] = values[best];
    here = least;
  }
  columns[byte].fill(point[byte]);
  return best < Lanes::Width;
}

/// Set a few bytes by chance and measure anew.
void Downhill::disturb() {
  for (uint64_t times = 1 + random.below(3); times > 0; --times) {
    const size_t byte = random.below(scope.size());
    if (!scope.values[byte].empty())
      point[byte] = scope.values[byte][random.below(scope.values[byte].size())];
    columns[byte].fill(point[byte]);
  }
  bench.lanes.compute(columns);
  spent += costOfRun();
  here = distanceIn(0);
}

Answer Downhill::run(uint64_t budget) {
  point = scope.seed;
  columns = scope.columns();
  bench.lanes.compute(columns);
  here = distanceIn(0);
  std::vector<uint8_t> bestPoint = point;
  Distance best = here;
  unsigned stalls = 0;
  while (spent < budget) {
    bool better = false;
    for (size_t byte = 0; byte < scope.size() && here > 0 && spent < budget; ++byte)
      better |= improve(byte);
    if (here == 0) {
      Assignment assignment = scope.assignment(point);
      if (bench.accepts(query, assignment))
        return {Verdict::Sat, std::move(assignment), false};
    }
    if (better && here > 0)
      continue;
    // At the foot of a hill: go on from the lowest point, now and then from here.
    if (here < best) {
      best = here;
      bestPoint = point;
      stalls = 0;
    } else if (++stalls % StallsMax != 0) {
      point = bestPoint;
      for (size_t byte = 0; byte < scope.size(); ++byte)
        columns[byte].fill(point[byte]);
    }
    disturb();
  }
  return {};
}

} // namespace

Answer DistanceSearch::solve(const Query &query, Workbench &bench) {
  Scope scope(bench, {&query.goal.label, 1}, BytesMax);
  if (!scope.fits)
    return {};
  std::vector<Condition> parts = conjunctsOf(bench.trace, query.goal), others;
  for (const Condition &condition : query.slice)
    if (bench.trace.sets.touches(bench.trace.bytes[condition.label], scope.bytes))
      others.push_back(condition);
  Downhill downhill(query, bench, scope);
  if (others.size() > ConditionsMax || !downhill.prepare(parts, others, RowsMax)) {
    if (!downhill.prepare(parts, {}, RowsMax))
      return {};
  }
  return downhill.run(RowRunsMax);
}

} // namespace sf
