#include "byte_sums.h"

#include <numeric>
#include <utility>

namespace sf {

bool ByteSums::sample(std::span<const Target> targets, const Condition &goal, size_t rowsMax) {
  std::vector<uint32_t> labels;
  for (const Target &target : targets)
    addLabels(target.equation, labels);
  if (labels.empty() || !bench.lanes.prepare(labels, scope.bytes, rowsMax))
    return false;
  std::vector<Lanes::Bytes> columns = scope.columns();
  bench.lanes.compute(columns);
  for (const Target &target : targets) {
    const uint64_t seed = difference(target.equation, 0);
    Sum sum{target, (target.difference - seed) & lowBits(target.equation.bits), {}, {}, {}};
    sum.change.resize(scope.size());
    sums.push_back(std::move(sum));
  }
  for (size_t byte = 0; byte < scope.size(); ++byte) {
    for (unsigned lane = 0; lane < Lanes::Width; ++lane)
      columns[byte][lane] = uint8_t(lane);
    bench.lanes.compute(columns);
    for (Sum &sum : sums) {
      const Equation &equation = sum.target.equation;
      const uint64_t seed = difference(equation, scope.seed[byte]);
      for (unsigned lane = 0; lane < Lanes::Width; ++lane)
        sum.change[byte][lane] =
            asSigned((difference(equation, lane) - seed) & lowBits(equation.bits), equation.bits);
    }
    columns[byte].fill(scope.seed[byte]);
  }
  if (!isSum(goal))
    return false;
  arrange();
  return true;
}

/// Compare with samples. Half of them will do: a sum that wraps in a narrow
/// place, or a clamp at an end, makes few wrong; each solution is evaluated.
bool ByteSums::isSum(const Condition &goal) {
  QueryRandom random(bench.trace, goal);
  std::vector<Lanes::Bytes> columns(scope.size());
  for (size_t byte = 0; byte < scope.size(); ++byte) {
    if (scope.values[byte].empty())
      return false;
    for (uint8_t &value : columns[byte])
      value = scope.values[byte][random.below(scope.values[byte].size())];
  }
  bench.lanes.compute(columns);
  for (const Sum &sum : sums) {
    const Equation &equation = sum.target.equation;
    const uint64_t seed = (sum.target.difference - sum.missing) & lowBits(equation.bits);
    unsigned right = 0;
    for (unsigned lane = 0; lane < Lanes::Width; ++lane) {
      uint64_t expected = seed;
      for (size_t byte = 0; byte < scope.size(); ++byte)
        expected += uint64_t(sum.change[byte][columns[byte][lane]]);
      right += (expected & lowBits(equation.bits)) == difference(equation, lane);
    }
    if (right < Lanes::Width / 2)
      return false;
  }
  return true;
}

/// Order the bytes and sum up what those behind each place can add.
void ByteSums::arrange() {
  std::vector<std::vector<std::pair<int64_t, int64_t>>> range(sums.size());
  std::vector<Wide> span(scope.size(), 0);
  for (size_t i = 0; i < sums.size(); ++i)
    for (size_t byte = 0; byte < scope.size(); ++byte) {
      int64_t low = INT64_MAX, high = INT64_MIN;
      for (uint8_t value : scope.values[byte]) {
        low = std::min(low, sums[i].change[byte][value]);
        high = std::max(high, sums[i].change[byte][value]);
      }
      range[i].push_back({low, high});
      span[byte] += Wide(high) - low;
    }
  order.resize(scope.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::sort(order, {}, [&](size_t byte) { return std::pair(-span[byte], byte); });
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i].lowest.assign(scope.size() + 1, 0);
    sums[i].highest.assign(scope.size() + 1, 0);
    for (size_t place = scope.size(); place-- > 0;) {
      sums[i].lowest[place] = sums[i].lowest[place + 1] + range[i][order[place]].first;
      sums[i].highest[place] = sums[i].highest[place + 1] + range[i][order[place]].second;
    }
  }
}

} // namespace sf
