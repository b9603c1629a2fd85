#include "float_equations.h"
#include "float_semantics.h"

#include <algorithm>
#include <cmath>

namespace sf {
namespace {

using Vector = std::vector<long double>;

/// Two numbers that shall be equal.
struct FloatEquation {
  uint32_t left, right;
  unsigned format;
};

std::vector<FloatEquation> equationsAmong(const Trace &trace,
                                          std::span<const Condition> conditions) {
  constexpr size_t EquationsMax = 8;
  std::vector<FloatEquation> equations;
  for (const Condition &condition : conditions) {
    const sf_row &row = trace.rows[condition.label];
    const unsigned function = SF_FLOAT_FUNCTION(row.aux), format = SF_FLOAT_FROM(row.aux);
    const bool says =
        function == SF_FN_EQ ? condition.value == 1 : function == SF_FN_NE && condition.value == 0;
    if (row.op == SF_OP_FLOAT && says && format != SF_X87 && equations.size() < EquationsMax)
      equations.push_back({row.a, row.b, format});
  }
  return equations;
}

class Newton {
public:
  Newton(const Query &wanted, Workbench &shared, std::vector<FloatEquation> all,
         std::span<const InputNumber> unknown, uint64_t &evaluations)
      : query(wanted), bench(shared), equations(std::move(all)), numbers(unknown),
        budget(evaluations) {}

  bool runFrom(Vector at, Assignment &answer);
  Vector present() const;

private:
  static constexpr unsigned RoundsMax = 24;

  Assignment written(const Vector &at) const;
  bool residuals(const Vector &at, Vector &out);
  bool step(Vector &at, const Vector &now);

  const Query &query;
  Workbench &bench;
  const std::vector<FloatEquation> equations;
  std::span<const InputNumber> numbers;
  uint64_t &budget;
};

Vector Newton::present() const {
  Vector at;
  for (const InputNumber &number : numbers) {
    const unsigned bytes = widthOfFormat(number.format) / 8;
    uint64_t bits = 0;
    for (unsigned i = 0; i < bytes; ++i)
      bits |= uint64_t(bench.trace.input[number.offset + i])
              << 8 * (number.swapped ? bytes - 1 - i : i);
    at.push_back(valueOf({bits, 0}, number.format));
  }
  return at;
}

Assignment Newton::written(const Vector &at) const {
  Assignment bytes;
  for (size_t k = 0; k < numbers.size(); ++k) {
    const unsigned count = widthOfFormat(numbers[k].format) / 8;
    const uint64_t bits = numberOf(at[k], numbers[k].format).low;
    for (unsigned i = 0; i < count; ++i)
      bytes.push_back(
          {numbers[k].offset + i, uint8_t(bits >> 8 * (numbers[k].swapped ? count - 1 - i : i))});
  }
  return bytes;
}

/// How far each equation is from holding; false where one has no value.
bool Newton::residuals(const Vector &at, Vector &out) {
  if (budget == 0)
    return false;
  --budget;
  bench.evaluator.assume(written(at));
  out.clear();
  for (const FloatEquation &equation : equations) {
    out.push_back(valueOf({bench.evaluator.value(equation.left), 0}, equation.format) -
                  valueOf({bench.evaluator.value(equation.right), 0}, equation.format));
    if (!std::isfinite(out.back()))
      return false;
  }
  return true;
}

/// Solve a small square system in place, the largest pivots first.
bool eliminate(std::vector<Vector> &rows) {
  const size_t size = rows.size();
  for (size_t column = 0; column < size; ++column) {
    auto pivot =
        std::ranges::max_element(rows.begin() + ptrdiff_t(column), rows.end(), {},
                                 [&](const Vector &row) { return std::fabs(row[column]); });
    std::swap(rows[column], *pivot);
    if (rows[column][column] == 0)
      return false;
    for (size_t other = 0; other < size; ++other) {
      if (other == column)
        continue;
      const long double factor = rows[other][column] / rows[column][column];
      for (size_t i = column; i <= size; ++i)
        rows[other][i] -= factor * rows[column][i];
    }
  }
  return true;
}

/// The shortest step that meets the equations as they look from here: with their
/// slopes J that is J^T y where J J^T y is what is missing.
bool Newton::step(Vector &at, const Vector &now) {
  std::vector<Vector> slopes(equations.size(), Vector(at.size()));
  for (size_t k = 0; k < at.size(); ++k) {
    Vector moved = at, there;
    const long double width = std::ldexp(1.0L, std::ilogb(std::max(std::fabs(at[k]), 1.0L)) - 8);
    moved[k] += width;
    if (!residuals(moved, there))
      return false;
    for (size_t i = 0; i < equations.size(); ++i)
      slopes[i][k] = (there[i] - now[i]) / width;
  }
  std::vector<Vector> system(equations.size(), Vector(equations.size() + 1));
  for (size_t i = 0; i < equations.size(); ++i) {
    for (size_t j = 0; j < equations.size(); ++j)
      for (size_t k = 0; k < at.size(); ++k)
        system[i][j] += slopes[i][k] * slopes[j][k];
    system[i].back() = -now[i];
  }
  if (!eliminate(system))
    return false;
  for (size_t k = 0; k < at.size(); ++k) {
    for (size_t i = 0; i < equations.size(); ++i)
      at[k] += slopes[i][k] * system[i].back() / system[i][i];
    at[k] = valueOf(numberOf(at[k], numbers[k].format), numbers[k].format);
    if (!std::isfinite(at[k]))
      return false;
  }
  return true;
}

bool Newton::runFrom(Vector at, Assignment &answer) {
  Vector now;
  for (unsigned round = 0; round < RoundsMax && residuals(at, now); ++round) {
    if (std::ranges::all_of(now, [](long double missing) { return missing == 0; })) {
      answer = written(at);
      return bench.accepts(query, answer);
    }
    if (!step(at, now))
      return false;
  }
  return false;
}

} // namespace

bool solveEquations(const Query &query, Workbench &bench, std::span<const Condition> conditions,
                    std::span<const InputNumber> numbers, uint64_t &budget, Assignment &answer) {
  constexpr size_t NumbersMax = 8;
  std::vector<FloatEquation> equations = equationsAmong(bench.trace, conditions);
  if (equations.size() < 2 || numbers.empty() || numbers.size() > NumbersMax)
    return false;
  Newton newton(query, bench, std::move(equations), numbers, budget);
  Assignment found;
  for (const Vector &start : {newton.present(), Vector(numbers.size(), 1.0L)})
    if (newton.runFrom(start, found)) {
      answer = std::move(found);
      return true;
    }
  return false;
}

} // namespace sf
