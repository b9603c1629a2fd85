#include "scan.h"
#include "semantics.h"

#include <algorithm>
#include <numeric>

namespace sf {
namespace {

/// Call `visit(value)` for each member, those near the byte's present value
/// first (small changes keep more of what the input is), until it says stop.
template <typename F> void visitOutwards(const ByteDomain &members, uint8_t centre, F &&visit) {
  for (unsigned distance = 0; distance < 256; ++distance) {
    unsigned up = centre + distance;
    if (up < 256 && members[up] && visit(uint8_t(up)))
      return;
    if (distance && distance <= centre && members[centre - distance] &&
        visit(uint8_t(centre - distance)))
      return;
  }
}

/// Bytes of the constants that an expression compares and computes with, and
/// their neighbours: the values that are likely to matter.
std::vector<uint8_t> suggestedValues(const Trace &trace, uint32_t label) {
  constexpr size_t RowsMax = 256, ValuesMax = 40;
  std::vector<uint8_t> values = {0, 0xff, 0x7f, 0x80, 1, ' ', '0', '9', 'a', 'A'};
  auto suggest = [&](uint8_t value) {
    if (values.size() < ValuesMax && !std::ranges::count(values, value))
      values.push_back(value);
  };
  std::vector<uint32_t> stack = {label};
  for (size_t visited = 0; !stack.empty() && visited < RowsMax; ++visited) {
    const sf_row &row = trace.rows[stack.back()];
    stack.pop_back();
    bool constant = row.op == SF_OP_CONST || (isBinary(row.op) && (!row.a || !row.b));
    for (unsigned i = 0; constant && i < 8 && (i == 0 || row.k >> (8 * i)); ++i)
      for (int near : {0, 1, -1})
        suggest(uint8_t((row.k >> (8 * i)) + near));
    Trace::forEachOperand(row, [&](uint32_t operand) { stack.push_back(operand); });
  }
  return values;
}

Lanes::Bytes allValues() {
  Lanes::Bytes all;
  std::iota(all.begin(), all.end(), uint8_t(0));
  return all;
}

Lanes::Bytes sameValue(uint8_t value) {
  Lanes::Bytes same;
  same.fill(value);
  return same;
}

} // namespace

Answer Scan::solve(const Query &query, Workbench &bench) {
  const Trace &trace = bench.trace;
  if (bench.lengths.isAbout(query.goal.label))
    if (const Ranges *truth = bench.lengths.truth(query.goal))
      return length(query, bench, *truth);
  uint32_t set = trace.bytes[query.goal.label];
  if (trace.sets.size(set) > BytesMax)
    return {};
  std::vector<uint32_t> bytes = trace.sets.offsets(set, BytesMax);
  if (bytes.size() == 1)
    return oneByte(query, bench, bytes[0]);
  if (bytes.size() == 2)
    if (Answer answer = twoBytes(query, bench, bytes); answer.verdict != Verdict::Unknown)
      return answer;
  return suggestions(query, bench, bytes);
}

Answer Scan::length(const Query &query, Workbench &bench, const Ranges &truth) {
  const Trace &trace = bench.trace;
  auto assign = [&](uint64_t wanted) {
    Assignment assignment;
    addLength(trace, wanted, assignment);
    return assignment;
  };
  Ranges allowed = truth;
  for (const Condition &condition : query.slice)
    if (bench.lengths.isAbout(condition.label))
      if (const Ranges *said = bench.lengths.truth(condition))
        allowed = intersection(allowed, *said);
  std::optional<uint64_t> best = nearest(allowed, trace.length);
  if (!best) {
    if (std::optional<uint64_t> alone = nearest(truth, trace.length))
      bench.goalOnly = assign(*alone);
    return {Verdict::Unsat, {}, false};
  }
  std::vector<uint64_t> wanted = {*best};
  for (const Range &range : allowed)
    for (uint64_t end : {range.first, range.last})
      if (wanted.size() < ChecksMax)
        wanted.push_back(end);
  for (uint64_t value : wanted)
    if (Assignment assignment = assign(value); bench.accepts(query, assignment))
      return {Verdict::Sat, std::move(assignment), false};
  return {};
}

Answer Scan::oneByte(const Query &query, Workbench &bench, uint32_t byte) {
  const ByteDomain *truth = bench.path.truth(query.goal);
  if (!truth)
    return {};
  ByteDomain allowed = *truth & bench.path.domain(byte);
  if (allowed.none()) {
    // Contradicts the constraints on this byte alone, so the whole slice. The
    // goal by itself may still be worth an optimistic try.
    visitOutwards(*truth, bench.trace.input[byte], [&](uint8_t value) {
      bench.goalOnly = Assignment{{byte, value}};
      return true;
    });
    return {Verdict::Unsat, {}, false};
  }
  Answer answer;
  unsigned checks = 0;
  visitOutwards(allowed, bench.trace.input[byte], [&](uint8_t value) {
    Assignment assignment = {{byte, value}};
    if (bench.accepts(query, assignment))
      answer = {Verdict::Sat, std::move(assignment), false};
    return answer.verdict == Verdict::Sat || ++checks == ChecksMax;
  });
  return answer;
}

Answer Scan::twoBytes(const Query &query, Workbench &bench, std::span<const uint32_t> bytes) {
  if (!bench.lanes.prepare(query.goal.label, bytes, PairRowsMax))
    return {};
  const ByteDomain domains[] = {bench.path.domain(bytes[0]), bench.path.domain(bytes[1])};
  Lanes::Bytes columns[] = {allValues(), {}};
  Answer answer;
  unsigned checks = 0;
  bool met = false, metInDomains = false;
  visitOutwards(ByteDomain().set(), bench.trace.input[bytes[1]], [&](uint8_t second) {
    columns[1] = sameValue(second);
    Lanes::Mask mask = bench.lanes.run(columns, query.goal.value);
    met |= mask.any();
    if (mask.any() && !bench.goalOnly)
      visitOutwards(mask, bench.trace.input[bytes[0]], [&](uint8_t first) {
        bench.goalOnly = Assignment{{bytes[0], first}, {bytes[1], second}};
        return true;
      });
    mask &= domains[0];
    if (!domains[1][second] || mask.none())
      return false;
    metInDomains = true;
    visitOutwards(mask, bench.trace.input[bytes[0]], [&](uint8_t first) {
      Assignment assignment = {{bytes[0], first}, {bytes[1], second}};
      if (bench.accepts(query, assignment))
        answer = {Verdict::Sat, std::move(assignment), false};
      return answer.verdict == Verdict::Sat || ++checks % 4 == 0;
    });
    return answer.verdict == Verdict::Sat || checks >= ChecksMax;
  });
  if (answer.verdict != Verdict::Sat && !metInDomains)
    answer.verdict = Verdict::Unsat; // all pairs were tried
  return answer;
}

Answer Scan::suggestions(const Query &query, Workbench &bench, std::span<const uint32_t> bytes) {
  if (!bench.lanes.prepare(query.goal.label, bytes, RowsMax))
    return {};
  std::vector<uint8_t> values = suggestedValues(bench.trace, query.goal.label);
  std::vector<Lanes::Bytes> columns(bytes.size());
  Answer answer;
  unsigned checks = 0;
  auto tryLanes = [&] {
    Lanes::Mask mask = bench.lanes.run(columns, query.goal.value);
    for (unsigned lane = 0; lane < Lanes::Width && mask.any(); ++lane) {
      if (!mask[lane])
        continue;
      Assignment assignment;
      for (size_t i = 0; i < bytes.size(); ++i)
        assignment.push_back({bytes[i], columns[i][lane]});
      if (bench.accepts(query, assignment))
        answer = {Verdict::Sat, std::move(assignment), false};
      if (answer.verdict == Verdict::Sat || ++checks >= ChecksMax)
        return;
    }
  };
  auto done = [&] { return answer.verdict == Verdict::Sat || checks >= ChecksMax; };

  // Each byte through all values, the others as they are.
  for (size_t varied = 0; varied < bytes.size() && !done(); ++varied) {
    for (size_t i = 0; i < bytes.size(); ++i)
      columns[i] = i == varied ? allValues() : sameValue(bench.trace.input[bytes[i]]);
    tryLanes();
  }
  // Combinations of suggested values: each byte walks the list at its own pace.
  for (unsigned batch = 0; batch < 4 && !done(); ++batch) {
    for (unsigned lane = 0; lane < Lanes::Width; ++lane) {
      uint64_t number = uint64_t(batch) * Lanes::Width + lane;
      for (size_t i = 0; i < bytes.size(); ++i) {
        columns[i][lane] = values[number % values.size()];
        number = number / values.size() + number * 7 % values.size();
      }
    }
    tryLanes();
  }
  return answer;
}

} // namespace sf
