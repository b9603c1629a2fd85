#include "linear.h"
#include "byte_sums.h"
#include "scope.h"
#include "xor_system.h"

#include <algorithm>

namespace sf {
namespace {

constexpr unsigned XorChecksMax = 192;
constexpr size_t SliceEquationsMax = 256;
constexpr size_t SumsMax = 16;

using Reading = std::optional<Equation> (*)(const Trace &, const Condition &);

/// Equations of the goal; empty when a part of it is none.
std::vector<Equation> equationsOf(const Trace &trace, std::span<const Condition> parts,
                                  Reading read) {
  std::vector<Equation> equations;
  for (const Condition &part : parts) {
    std::optional<Equation> equation = read(trace, part);
    if (!equation)
      return {};
    equations.push_back(*equation);
  }
  return equations;
}

Answer overBits(const Query &query, Workbench &bench, std::vector<Equation> equations,
                const Scope &scope, size_t rowsMax) {
  const size_t wanted = equations.size();
  for (const Condition &condition : query.slice) {
    if (equations.size() >= wanted + SliceEquationsMax)
      break;
    if (std::optional<Equation> equation = bitEquationOf(bench.trace, condition))
      equations.push_back(*equation);
  }
  XorSystem system(bench, scope);
  if (!system.sample(equations, query.goal, rowsMax))
    return {};
  for (size_t i = 0; i < wanted; ++i)
    if (!system.add(i))
      return {};
  if (system.rank() == 0)
    return {};
  for (size_t i = wanted; i < equations.size(); ++i)
    system.add(i);
  QueryRandom random(bench.trace, query.goal);
  for (unsigned number = 0; number < XorChecksMax; ++number) {
    std::optional<Assignment> assignment = system.solution(number, random);
    if (!assignment)
      break;
    if (bench.accepts(query, *assignment))
      return {Verdict::Sat, std::move(*assignment), false};
    // What is not linear about the goal makes most of its solutions wrong.
    if (number == 32 && !bench.goalOnly)
      break;
  }
  return {};
}

Answer overSums(const Query &query, Workbench &bench, std::span<const ByteSums::Target> targets,
                const Scope &scope, size_t rowsMax) {
  ByteSums sums(bench, scope);
  if (!sums.sample(targets, query.goal, rowsMax))
    return {};
  Answer answer;
  sums.search([&](Assignment assignment) {
    if (bench.accepts(query, assignment))
      answer = {Verdict::Sat, std::move(assignment), false};
    return answer.verdict == Verdict::Sat;
  });
  return answer;
}

/// An inequality is met at its border: left - right is 0, 1 or -1 there.
std::optional<ByteSums::Target> borderOf(const Trace &trace, const Condition &part) {
  const sf_row &row = trace.rows[part.label];
  const bool isStrict = row.op == SF_OP_ULT || row.op == SF_OP_SLT;
  if (!isStrict && row.op != SF_OP_ULE && row.op != SF_OP_SLE)
    return std::nullopt;
  const uint64_t difference = isStrict ? (part.value ? ~uint64_t(0) : 0) : (part.value ? 0 : 1);
  return ByteSums::Target{{{row.a, row.k}, {row.b, row.k}, row.aux}, difference & lowBits(row.aux)};
}

} // namespace

Answer Linear::solve(const Query &query, Workbench &bench) {
  const Trace &trace = bench.trace;
  std::vector<Condition> parts = conjunctsOf(trace, query.goal);
  Scope scope(bench, {&query.goal.label, 1}, BytesMax);
  if (!scope.fits)
    return {};
  Answer answer;
  if (std::vector<Equation> equations = equationsOf(trace, parts, bitEquationOf);
      !equations.empty())
    answer = overBits(query, bench, std::move(equations), scope, RowsMax);
  if (answer.verdict == Verdict::Sat)
    return answer;
  std::vector<ByteSums::Target> targets;
  for (const Equation &equation : equationsOf(trace, parts, equationOf))
    targets.push_back({equation, 0});
  if (targets.empty() && parts.size() == 1)
    if (std::optional<ByteSums::Target> border = borderOf(trace, parts[0]))
      targets.push_back(*border);
  if (!targets.empty() && targets.size() <= SumsMax)
    answer = overSums(query, bench, targets, scope, RowsMax);
  return answer;
}

} // namespace sf
