#include "conjuncts.h"
#include "semantics.h"

#include <algorithm>
#include <bit>

namespace sf {
namespace {

class Splitter {
public:
  explicit Splitter(const Trace &recorded) : trace(recorded) {}

  std::vector<Condition> split(const Condition &whole) {
    work.push_back(whole);
    while (!work.empty() && simple.size() < PartsMax) {
      Condition part = work.back();
      work.pop_back();
      if (!isSplit(part))
        simple.push_back(part);
    }
    // Too many parts: those that are left stay whole.
    simple.insert(simple.end(), work.begin(), work.end());
    return std::move(simple);
  }

private:
  static constexpr size_t PartsMax = 4096;

  bool isSplit(const Condition &part);
  bool isSplitBinary(const sf_row &row, uint64_t value);
  bool want(uint32_t label, uint64_t value) {
    if (trace.bytes[label] == 0)
      return trace.seed[label] == value; // else it stays in sight, unsplit
    work.push_back({label, value});
    return true;
  }
  bool wantBoth(const sf_row &row, uint64_t value) {
    if ((!row.a || !row.b) && row.k != value)
      return false;
    return (!row.a || want(row.a, value)) && (!row.b || want(row.b, value));
  }

  const Trace &trace;
  std::vector<Condition> work, simple;
};

/// Put what is equivalent to a condition on the list; false if it is simple.
/// A part that contradicts itself is never replaced.
bool Splitter::isSplit(const Condition &part) {
  const sf_row &row = trace.rows[part.label];
  const size_t before = work.size();
  bool done = false;
  if (isBinary(row.op)) {
    done = isSplitBinary(row, part.value);
  } else if (row.op == SF_OP_ZEXT) {
    done = part.value <= lowBits(row.aux) && want(row.a, part.value);
  } else if (row.op == SF_OP_BSWAP) {
    done = want(row.a, __builtin_bswap64(part.value) >> (64 - row.bits));
  } else if (row.op == SF_OP_CONCAT) {
    done = want(row.b, part.value & lowBits(row.aux)) && want(row.a, part.value >> row.aux);
  }
  if (!done)
    work.resize(before);
  return done;
}

bool Splitter::isSplitBinary(const sf_row &row, uint64_t value) {
  const uint64_t mask = lowBits(row.bits);
  const bool hasConstant = !row.a || !row.b;
  const uint32_t only = row.a ? row.a : row.b;
  switch (row.op) {
  case SF_OP_AND:
    return value == mask && wantBoth(row, value);
  case SF_OP_OR:
    return value == 0 && wantBoth(row, value);
  case SF_OP_XOR:
    return hasConstant && want(only, value ^ row.k);
  case SF_OP_ADD:
    return hasConstant && want(only, (value - row.k) & mask);
  case SF_OP_SUB:
    return hasConstant && want(only, (row.a ? value + row.k : row.k - value) & mask);
  case SF_OP_EQ:
  case SF_OP_NE:
    if (!hasConstant)
      return false;
    if ((row.op == SF_OP_EQ) == (value == 1))
      return want(only, row.k);
    return row.aux == 1 && want(only, row.k ^ 1);
  }
  return false;
}

} // namespace

std::vector<Condition> conjunctsOf(const Trace &trace, const Condition &whole) {
  return Splitter(trace).split(whole);
}

std::optional<Equation> equationOf(const Trace &trace, const Condition &condition) {
  const sf_row &row = trace.rows[condition.label];
  if (!isComparison(row.op))
    return Equation{{condition.label, 0}, {0, condition.value}, row.bits};
  bool isEquality = row.op == (condition.value ? SF_OP_EQ : SF_OP_NE);
  if (!isEquality)
    return std::nullopt;
  return Equation{{row.a, row.k}, {row.b, row.k}, row.aux};
}

std::optional<Equation> bitEquationOf(const Trace &trace, const Condition &condition) {
  if (std::optional<Equation> equation = equationOf(trace, condition))
    return equation;
  const sf_row &row = trace.rows[condition.label];
  const bool hasConstant = !row.a || !row.b;
  const uint64_t mask = lowBits(row.aux);
  if (!hasConstant || row.op == SF_OP_EQ || row.op == SF_OP_NE)
    return std::nullopt;
  // All four as x < limit, or its contrary where the constant is on the left.
  const bool orEqual = row.op == SF_OP_ULE || row.op == SF_OP_SLE;
  const bool below = (condition.value == 1) == (row.a != 0);
  const uint64_t limit = (orEqual == (row.a != 0) ? row.k + 1 : row.k) & mask;
  const Term x{row.a ? row.a : row.b, 0};
  if (row.op == SF_OP_SLT || row.op == SF_OP_SLE) {
    if (limit != 0)
      return std::nullopt;
    return Equation{x, {0, below ? mask : 0}, 1, row.aux - 1u};
  }
  if (!below || !std::has_single_bit(limit))
    return std::nullopt;
  const unsigned from = unsigned(std::countr_zero(limit));
  return Equation{x, {0, 0}, row.aux - from, from};
}

} // namespace sf
