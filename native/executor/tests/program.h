// Expressions written by hand, and a step that is asked about them.
#pragma once

#include "check.h"
#include "query.h"

#include <vector>

namespace sf::test {

/// A table that is built row by row, with its input.
struct Program {
  explicit Program(std::vector<uint8_t> bytes) : input(std::move(bytes)) {
    table.rows.push_back({});
  }
  uint32_t row(uint8_t op, unsigned bits, unsigned aux, uint32_t a, uint32_t b = 0,
               uint64_t k = 0) {
    table.rows.push_back({op, uint8_t(bits), uint16_t(aux), a, b, 0, k});
    return uint32_t(table.rows.size() - 1);
  }
  uint32_t read(unsigned bits, uint64_t offset) { return row(SF_OP_INPUT, bits, 0, 0, 0, offset); }
  uint32_t equal(uint32_t label, uint64_t value) {
    return row(SF_OP_EQ, 1, table.rows[label].bits, label, 0, value);
  }

  RawTable table;
  std::vector<uint8_t> input;
};

template <typename StepType>
Verdict solveWith(const Program &program, uint32_t goal, std::vector<Condition> path = {}) {
  Trace trace(program.table, program.input);
  Limits limits;
  Workbench bench(trace, limits);
  for (const Condition &condition : path)
    bench.path.add(condition);
  StepType step;
  Query query{{goal, 1}, bench.path.slice(goal)};
  Answer answer = step.solve(query, bench);
  if (answer.verdict == Verdict::Sat)
    CHECK(bench.accepts(query, answer.assignment));
  return answer.verdict;
}

inline bool isSat(Verdict verdict) { return verdict == Verdict::Sat; }

} // namespace sf::test
