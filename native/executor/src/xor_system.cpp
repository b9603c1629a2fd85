#include "xor_system.h"

namespace sf {

bool XorSystem::sample(std::span<const Equation> wanted, const Condition &goal, size_t rowsMax) {
  std::vector<uint32_t> labels;
  for (const Equation &equation : wanted) {
    sampled.push_back({equation, 0, lowBits(equation.bits), {}});
    addLabels(equation, labels);
  }
  if (labels.empty() || !bench.lanes.prepare(labels, scope.bytes, rowsMax))
    return false;
  sampleUnknowns();
  testSamples(goal);
  return true;
}

/// What each input bit changes by itself.
void XorSystem::sampleUnknowns() {
  const size_t unknowns = 8 * scope.size();
  std::vector<Lanes::Bytes> columns = scope.columns();
  bench.lanes.compute(columns);
  for (Sampled &one : sampled) {
    one.seed = difference(one.equation, 0);
    one.change.resize(unknowns);
  }
  for (size_t first = 0; first < unknowns; first += Lanes::Width) {
    columns = scope.columns();
    const size_t end = std::min(unknowns, first + Lanes::Width);
    for (size_t unknown = first; unknown < end; ++unknown)
      columns[byteOf(unknown)][unknown - first] ^= bitOf(unknown);
    bench.lanes.compute(columns);
    for (Sampled &one : sampled)
      for (size_t unknown = first; unknown < end; ++unknown)
        one.change[unknown] = difference(one.equation, unsigned(unknown - first)) ^ one.seed;
  }
}

/// f(a) xor f(b) xor f(a xor b xor seed) is f(seed) for all a and b if, and
/// with enough samples only if, f is linear apart from a constant.
void XorSystem::testSamples(const Condition &goal) {
  QueryRandom random(bench.trace, goal);
  std::vector<Lanes::Bytes> columns = scope.columns();
  for (size_t i = 0; i < scope.size(); ++i)
    for (unsigned lane = 0; lane + 2 < Lanes::Width; lane += 3) {
      uint64_t bits = random.next();
      columns[i][lane] = uint8_t(bits);
      columns[i][lane + 1] = uint8_t(bits >> 8);
      columns[i][lane + 2] = uint8_t(bits ^ bits >> 8 ^ scope.seed[i]);
    }
  bench.lanes.compute(columns);
  for (Sampled &one : sampled)
    for (unsigned lane = 0; lane + 2 < Lanes::Width; lane += 3)
      one.linear &= ~(difference(one.equation, lane) ^ difference(one.equation, lane + 1) ^
                      difference(one.equation, lane + 2) ^ one.seed);
}

bool XorSystem::add(size_t index) {
  const Sampled &one = sampled[index];
  bool consistent = true;
  for (unsigned bit = 0; bit < one.equation.bits; ++bit) {
    if (!(one.linear >> bit & 1))
      continue;
    Row row;
    for (size_t unknown = 0; unknown < one.change.size(); ++unknown)
      row[unknown] = one.change[unknown] >> bit & 1;
    consistent &= addRow(row, one.seed >> bit & 1);
  }
  return consistent;
}

/// Gauss-Jordan elimination, one row at a time.
bool XorSystem::addRow(Row row, bool wanted) {
  for (const Pivot &pivot : pivots)
    if (row[pivot.unknown]) {
      row ^= pivot.row;
      wanted ^= pivot.wanted;
    }
  if (row.none())
    return !wanted;
  size_t unknown = row._Find_first();
  for (Pivot &pivot : pivots)
    if (pivot.row[unknown]) {
      pivot.row ^= row;
      pivot.wanted ^= wanted;
    }
  pivots.push_back({unknown, row, wanted});
  return true;
}

std::optional<Assignment> XorSystem::solution(unsigned number, QueryRandom &random) const {
  const size_t unknowns = 8 * scope.size(), freedom = unknowns - pivots.size();
  Row flipped;
  if (number > 0) {
    if (freedom == 0 || (freedom < 8 && number >> freedom))
      return std::nullopt;
    // Free unknowns by turns: one alone, then by chance.
    Row isPivot;
    for (const Pivot &pivot : pivots)
      isPivot.set(pivot.unknown);
    std::vector<size_t> free;
    for (size_t unknown = 0; unknown < unknowns; ++unknown)
      if (!isPivot[unknown])
        free.push_back(unknown);
    if (freedom < 8) {
      for (size_t i = 0; i < freedom; ++i)
        flipped[free[i]] = number >> i & 1;
    } else if (number <= freedom) {
      flipped.set(free[number - 1]);
    } else {
      for (size_t unknown : free)
        flipped[unknown] = random.below(4) == 0;
    }
  }
  Row chosen = flipped;
  for (const Pivot &pivot : pivots)
    chosen[pivot.unknown] = pivot.wanted ^ (((pivot.row & flipped).count()) & 1);
  std::vector<uint8_t> values = scope.seed;
  for (size_t unknown = 0; unknown < unknowns; ++unknown)
    if (chosen[unknown])
      values[byteOf(unknown)] ^= bitOf(unknown);
  return scope.assignment(values);
}

} // namespace sf
