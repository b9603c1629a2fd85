#include "inversion.h"
#include "inversion_descent.h"
#include "written_numbers.h"

namespace sf {

std::optional<Assignment> Inversion::attempt(const Trace &trace, Evaluator &from,
                                             const Condition &goal, const Assignment &pinned,
                                             unsigned number, bool &last) {
  Descent descent(trace, number, &from, pinned);
  bool reached = descent.run(goal);
  last = descent.exhausted();
  if (!reached || last)
    return std::nullopt;
  return descent.assignment();
}

Answer Inversion::solve(const Query &query, Workbench &bench) {
  for (unsigned number = 0; number < AttemptsMax; ++number) {
    Descent descent(bench.trace, number);
    if (!descent.run(query.goal))
      continue;
    if (descent.exhausted())
      break;
    Assignment assignment = descent.assignment();
    if (bench.accepts(query, assignment))
      return {Verdict::Sat, std::move(assignment), false};
  }
  return {};
}

namespace {

/// Call `visit` with each written number, and its value, that may meet the goal.
template <typename F> void forEachNumber(const Condition &goal, const Trace &trace, F &&visit) {
  constexpr unsigned WaysMax = 4;
  for (unsigned number = 0; number < WaysMax; ++number) {
    std::vector<Condition> numbers;
    Descent descent(trace, number);
    descent.numbers = &numbers;
    if (!descent.run(goal))
      continue;
    if (descent.exhausted())
      break;
    for (const Condition &each : numbers)
      visit(trace.rows[each.label], each.value);
  }
}

} // namespace

std::vector<std::vector<uint8_t>> withNumbersReplaced(const Condition &goal, const Trace &trace) {
  std::vector<std::vector<uint8_t>> inputs;
  forEachNumber(goal, trace, [&](const sf_row &row, uint64_t value) {
    if (auto input = withNumber(trace, row, value))
      inputs.push_back(std::move(*input));
  });
  return inputs;
}

std::vector<uint8_t> withRoomForNumber(const Condition &goal, const Trace &trace) {
  std::vector<uint8_t> longer;
  forEachNumber(goal, trace, [&](const sf_row &row, uint64_t value) {
    // Another end of the number would be a longer text each time.
    if (!longer.empty() || row.aux >> 8 != SF_NUMBER_VALUE)
      return;
    auto input = withNumber(trace, row, value);
    if (input && input->size() > trace.length)
      longer = std::move(*input);
  });
  return longer;
}

} // namespace sf
