#include "float_distance.h"
#include "semantics.h"

#include <bit>
#include <cmath>

namespace sf {
namespace {

constexpr double NoWay = 128; // nothing says in which direction

double ofSteps(__int128 steps) {
  return std::log2(1 + static_cast<double>(steps < 0 ? -steps : steps));
}

/// Distance of `x op y` from being wanted, on a line of integers.
double ofOrder(bool equality, bool orEqual, __int128 x, __int128 y, bool wanted) {
  if (equality)
    return wanted ? ofSteps(x - y) : x == y ? 1 : 0;
  bool holds = orEqual ? x <= y : x < y;
  if (holds == wanted)
    return 0;
  return ofSteps(x - y) + (x == y ? 1 : 0);
}

double ofIntegers(const sf_row &row, uint64_t x, uint64_t y, bool wanted) {
  bool isSigned = row.op == SF_OP_SLT || row.op == SF_OP_SLE;
  __int128 left = isSigned ? __int128(asSigned(x, row.aux)) : __int128(x);
  __int128 right = isSigned ? __int128(asSigned(y, row.aux)) : __int128(y);
  bool equality = row.op == SF_OP_EQ || row.op == SF_OP_NE;
  bool orEqual = row.op == SF_OP_ULE || row.op == SF_OP_SLE;
  return ofOrder(equality, orEqual, left, right, row.op == SF_OP_NE ? !wanted : wanted);
}

double ofFloats(const sf_row &row, const FourValues &values, bool wanted) {
  const unsigned function = SF_FLOAT_FUNCTION(row.aux), format = SF_FLOAT_FROM(row.aux);
  if (function < SF_FN_EQ || function > SF_FN_NE)
    return NoWay; // a class, or no compare at all
  bool wide = format == SF_X87;
  Number x{values[0], uint16_t(wide ? values[1] : 0)};
  Number y{values[wide ? 2 : 1], uint16_t(wide ? values[3] : 0)};
  if (std::isnan(valueOf(x, format)) || std::isnan(valueOf(y, format)))
    return NoWay;
  bool equality = function == SF_FN_EQ || function == SF_FN_NE;
  double distance = ofOrder(equality, function == SF_FN_LE, positionOf(x, format),
                            positionOf(y, format), function == SF_FN_NE ? !wanted : wanted);
  return distance > 0 ? distance : 1; // +0 and -0 are neighbours, and equal
}

} // namespace

double distanceOf(const Trace &trace, Evaluator &evaluator, const Condition &condition) {
  // Conditions that are parts of one another: a bounded walk.
  constexpr unsigned StepsMax = 16;
  Condition at = condition;
  for (unsigned step = 0; step < StepsMax; ++step) {
    const uint64_t value = evaluator.value(at.label);
    if (value == at.value)
      return 0;
    const sf_row &row = trace.rows[at.label];
    auto operand = [&](uint32_t label) { return label ? evaluator.value(label) : row.k; };
    if (isComparison(row.op))
      return ofIntegers(row, operand(row.a), operand(row.b), at.value != 0);
    if (row.op == SF_OP_FLOAT && row.bits == 1) {
      FourValues values{};
      for (unsigned i = 0; i < 4; ++i)
        values[i] = operandOf(row, i) ? evaluator.value(operandOf(row, i)) : 0;
      return ofFloats(row, values, at.value != 0);
    }
    if (row.bits != 1)
      return ofSteps(__int128(value) - __int128(at.value));
    bool negation = row.op == SF_OP_XOR && row.a && !row.b && row.k == 1;
    if (negation) {
      at = {row.a, at.value ^ 1};
      continue;
    }
    if ((row.op != SF_OP_AND && row.op != SF_OP_OR) || !row.a || !row.b)
      return NoWay;
    // The first part that has the wrong value; with one enough, either has it.
    at = {evaluator.value(row.a) == at.value ? row.b : row.a, at.value};
  }
  return NoWay;
}

} // namespace sf
