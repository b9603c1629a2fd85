#include "meet.h"
#include "scope.h"
#include "semantics.h"
#include "spine.h"

#include <bit>
#include <map>

namespace sf {
namespace {

constexpr size_t BytesMax = 16;
constexpr size_t RowsMax = 4096;
constexpr uint64_t AboveMax = 1u << 16;    // assignments of the bytes above the cut
constexpr uint64_t LaneRowsMax = 1u << 28; // row evaluations below it
constexpr unsigned ChecksMax = 1024;
constexpr size_t GroupsMax = 8;

/// Counts through the values of some bytes, 256 assignments at a time.
class Counter {
public:
  /// Bytes of `subset`; those that would make more than `max` assignments in
  /// all keep the value that they have.
  Counter(const Scope &wanted, uint32_t subset, uint64_t max) : scope(wanted) {
    for (size_t i = 0; i < scope.size(); ++i) {
      if (!(subset >> i & 1))
        continue;
      members.push_back(i);
      uint64_t values = scope.values[i].size();
      bool isFree = values > 0 && total * values <= max;
      counts.push_back(isFree ? values : 1);
      strides.push_back(total);
      total *= counts.back();
      complete &= isFree;
    }
  }
  /// Lanes beyond the last assignment begin anew. A byte's value is the same for a
  /// whole stride: to count by runs costs less than one row, by division of each number
  /// as much as thirty.
  void fill(uint64_t first, std::vector<Lanes::Bytes> &columns) const {
    for (size_t i = 0; i < members.size(); ++i) {
      uint64_t index = first / strides[i] % counts[i];
      uint64_t left = strides[i] - first % strides[i];
      uint8_t *const column = columns[members[i]].data();
      for (unsigned lane = 0; lane < Lanes::Width; left = strides[i]) {
        const unsigned run = unsigned(std::min<uint64_t>(left, Lanes::Width - lane));
        std::fill_n(column + lane, run, valueOf(i, index));
        lane += run;
        index = index + 1 == counts[i] ? 0 : index + 1;
      }
    }
  }
  void choose(uint64_t number, std::vector<uint8_t> &values) const {
    for (size_t i = 0; i < members.size(); ++i, number /= counts[i - 1])
      values[members[i]] = valueOf(i, number % counts[i]);
  }

  uint64_t total = 1;
  bool complete = true;

private:
  uint8_t valueOf(size_t member, uint64_t index) const {
    size_t byte = members[member];
    return counts[member] == 1 && scope.values[byte].size() != 1 ? scope.seed[byte]
                                                                 : scope.values[byte][index];
  }

  const Scope &scope;
  std::vector<size_t> members;
  std::vector<uint64_t> counts;
  std::vector<uint64_t> strides; // assignments with the same value of a byte in a row
};

/// Wanted values at the cut whose known bits are the same.
struct Group {
  std::vector<std::pair<uint64_t, uint32_t>> wanted; // value, number of the assignment
  /// Eight bits for each of the most values there are: few others get past it.
  std::vector<uint64_t> filter = std::vector<uint64_t>(8 * AboveMax / 64);

  static unsigned slot(uint64_t value) { return unsigned(mix(value) % (8 * AboveMax)); }
  void add(uint64_t value, uint32_t number) {
    wanted.push_back({value, number});
    filter[slot(value) / 64] |= uint64_t(1) << (slot(value) % 64);
  }
  bool mayHave(uint64_t value) const { return filter[slot(value) / 64] >> (slot(value) % 64) & 1; }
};

class Meeting {
public:
  Meeting(const Query &wanted, Workbench &shared, const Scope &bytes, const Equation &one)
      : query(wanted), bench(shared), scope(bytes), equation(one), spine(shared.trace, top()) {}

  Answer run();

private:
  uint32_t top() const {
    const Trace &trace = bench.trace;
    auto size = [&](const Term &term) {
      return term.label ? trace.sets.size(trace.bytes[term.label]) : 0;
    };
    return size(equation.left) >= size(equation.right) ? equation.left.label : equation.right.label;
  }
  const Term &start() const {
    return top() == equation.left.label ? equation.right : equation.left;
  }
  uint32_t subsetOf(uint32_t label) const {
    uint32_t subset = 0;
    for (size_t i = 0; label && i < scope.size(); ++i)
      if (bench.trace.sets.contains(bench.trace.bytes[label], scope.bytes[i]))
        subset |= 1u << i;
    return subset;
  }
  bool chooseCut();
  bool goBackwards(const Counter &counter);
  bool goForwards(const Counter &above, const Counter &below, Answer &answer);
  bool check(const Counter &above, uint64_t numberAbove, const Counter &below, uint64_t number,
             Answer &answer);

  const Query &query;
  Workbench &bench;
  const Scope &scope;
  const Equation &equation;
  Spine spine;
  size_t cut = 0; // place in the spine
  uint32_t bytesAbove = 0, bytesBelow = 0;
  std::map<uint64_t, Group> groups; // by known bits
  bool lossy = false;               // a wanted value was let go
  unsigned checks = 0;
};

/// The place with the least work on its larger side.
bool Meeting::chooseCut() {
  uint32_t above = subsetOf(start().label);
  double least = 0;
  bool found = false;
  for (size_t place = 0; place < spine.labels.size(); ++place) {
    if (place > 0)
      above |= subsetOf(spine.undo[place - 1].other.label);
    const uint32_t below = subsetOf(spine.labels[place]);
    if (above & below)
      break;
    double workAbove = 1, workBelow = 1;
    for (size_t i = 0; i < scope.size(); ++i) {
      workAbove *= above >> i & 1 ? double(scope.values[i].size()) : 1;
      workBelow *= below >> i & 1 ? double(scope.values[i].size()) : 1;
    }
    // A computation backwards costs more than one in a lane.
    const double work = std::max(16 * workAbove, workBelow);
    if (above && below && (!found || work < least)) {
      found = true;
      least = work;
      cut = place;
      bytesAbove = above;
      bytesBelow = below;
    }
  }
  return found;
}

/// Collect what is wanted at the cut for each assignment of the bytes above.
bool Meeting::goBackwards(const Counter &counter) {
  std::vector<uint32_t> labels;
  if (start().label)
    labels.push_back(start().label);
  for (size_t i = 0; i < cut; ++i)
    if (spine.undo[i].other.label)
      labels.push_back(spine.undo[i].other.label);
  if (labels.empty() || !bench.lanes.prepare(labels, scope.bytes, RowsMax))
    return false;
  std::vector<Lanes::Bytes> columns = scope.columns();
  for (uint64_t first = 0; first < counter.total; first += Lanes::Width) {
    counter.fill(first, columns);
    bench.lanes.compute(columns);
    const unsigned count = unsigned(std::min<uint64_t>(Lanes::Width, counter.total - first));
    for (unsigned lane = 0; lane < count; ++lane) {
      Wanted wanted{valueIn(bench, start(), lane), lowBits(equation.bits)};
      bool possible = true;
      for (size_t i = 0; i < cut && possible; ++i) {
        const Undo &undo = spine.undo[i];
        possible = undo.apply(bench.trace, valueIn(bench, undo.other, lane), wanted);
      }
      if (!possible)
        continue;
      if (wanted.known == 0 || (groups.size() == GroupsMax && !groups.count(wanted.known)))
        lossy = true;
      else
        groups[wanted.known].add(wanted.value, uint32_t(first + lane));
    }
  }
  for (auto &[known, group] : groups)
    std::ranges::sort(group.wanted);
  return true;
}

bool Meeting::check(const Counter &above, uint64_t numberAbove, const Counter &below,
                    uint64_t number, Answer &answer) {
  std::vector<uint8_t> values = scope.seed;
  above.choose(numberAbove, values);
  below.choose(number, values);
  Assignment assignment = scope.assignment(values);
  if (bench.accepts(query, assignment))
    answer = {Verdict::Sat, std::move(assignment), false};
  return answer.verdict == Verdict::Sat || ++checks == ChecksMax;
}

/// Compare what the bytes below can make. Answers true when that is over.
bool Meeting::goForwards(const Counter &above, const Counter &below, Answer &answer) {
  const uint32_t label = spine.labels[cut];
  std::vector<Lanes::Bytes> columns = scope.columns();
  Lanes::Column reached;
  for (uint64_t first = 0; first < below.total; first += Lanes::Width) {
    // A check evaluates by other means, so the lanes are still prepared.
    below.fill(first, columns);
    bench.lanes.compute(columns);
    for (unsigned lane = 0; lane < Lanes::Width; ++lane)
      reached[lane] = valueIn(bench, {label, 0}, lane);
    const unsigned count = unsigned(std::min<uint64_t>(Lanes::Width, below.total - first));
    for (const auto &[known, group] : groups)
      for (unsigned lane = 0; lane < count; ++lane) {
        const uint64_t value = reached[lane] & known;
        if (!group.mayHave(value))
          continue;
        auto at = std::ranges::lower_bound(group.wanted, std::pair{value, uint32_t(0)});
        for (; at != group.wanted.end() && at->first == value; ++at)
          if (check(above, at->second, below, first + lane, answer))
            return true;
      }
  }
  return false;
}

Answer Meeting::run() {
  if (!chooseCut())
    return {};
  Counter above(scope, bytesAbove, AboveMax);
  if (!goBackwards(above))
    return {};
  const uint32_t label = spine.labels[cut];
  if (groups.empty() || !bench.lanes.prepare(label, scope.bytes, RowsMax))
    return {
        groups.empty() && above.complete && !lossy ? Verdict::Unsat : Verdict::Unknown, {}, false};
  Counter below(scope, bytesBelow, LaneRowsMax / std::max<uint64_t>(bench.lanes.cost(), 1));
  Answer answer;
  goForwards(above, below, answer);
  if (answer.verdict == Verdict::Unknown && checks == 0 && above.complete && below.complete &&
      !lossy)
    answer.verdict = Verdict::Unsat;
  return answer;
}

} // namespace

Answer Meet::solve(const Query &query, Workbench &bench) {
  for (const Condition &part : conjunctsOf(bench.trace, query.goal)) {
    std::optional<Equation> equation = equationOf(bench.trace, part);
    if (!equation)
      continue;
    std::vector<uint32_t> labels;
    addLabels(*equation, labels);
    Scope scope(bench, labels, BytesMax);
    if (!scope.fits || scope.size() < 3)
      continue;
    Answer answer = Meeting(query, bench, scope, *equation).run();
    if (answer.verdict != Verdict::Unknown)
      return answer;
  }
  return {};
}

} // namespace sf
