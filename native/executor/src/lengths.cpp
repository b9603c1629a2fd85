#include "lengths.h"
#include "mix.h"
#include "semantics.h"

#include <algorithm>

namespace sf {
namespace {

using Wide = unsigned __int128;

Range anything(unsigned bits) { return {0, lowBits(bits)}; }
bool isOne(Range range) { return range.first == range.last; }

/// Numbers from `first` to `last`, both of a wider kind, cut to `bits`: a range if
/// all of them lose the same.
Range cut(Wide first, Wide last, unsigned bits) {
  if (first >> bits != last >> bits)
    return anything(bits);
  return {uint64_t(first) & lowBits(bits), uint64_t(last) & lowBits(bits)};
}

bool crossesSign(Range range, unsigned bits) {
  return range.first >> (bits - 1) != range.last >> (bits - 1);
}

/// Ranges that do not cross the sign, moved so that signed order is that of
/// unsigned numbers.
Range ordered(Range range, unsigned bits) {
  const uint64_t sign = uint64_t(1) << (bits - 1);
  return crossesSign(range, bits) ? anything(bits) : Range{range.first ^ sign, range.last ^ sign};
}

Range less(Range x, Range y, bool orEqual) {
  if (orEqual ? x.last <= y.first : x.last < y.first)
    return {1, 1};
  if (orEqual ? x.first > y.last : x.first >= y.last)
    return {0, 0};
  return {0, 1};
}

Range equal(Range x, Range y, bool wanted) {
  if (x.last < y.first || y.last < x.first)
    return {!wanted, !wanted};
  if (isOne(x) && x == y)
    return {wanted, wanted};
  return {0, 1};
}

Range arithmetic(uint8_t op, unsigned bits, Range x, Range y) {
  switch (op) {
  case SF_OP_ADD:
    return cut(Wide(x.first) + y.first, Wide(x.last) + y.last, bits);
  case SF_OP_SUB: {
    const Wide lift = Wide(1) << bits;
    return cut(lift + x.first - y.last, lift + x.last - y.first, bits);
  }
  case SF_OP_MUL:
    return cut(Wide(x.first) * y.first, Wide(x.last) * y.last, bits);
  case SF_OP_UDIV:
    return y.first ? Range{x.first / y.last, x.last / y.first} : anything(bits);
  case SF_OP_UREM:
    if (!isOne(y) || !y.first)
      return anything(bits);
    if (x.first / y.first != x.last / y.first)
      return {0, y.first - 1};
    return {x.first % y.first, x.last % y.first};
  case SF_OP_AND:
    return {0, std::min(x.last, y.last)};
  case SF_OP_OR:
  case SF_OP_XOR:
    return {0, lowBits(unsigned(std::bit_width(x.last | y.last)))};
  case SF_OP_SHL:
    if (!isOne(y) || y.first >= bits)
      return anything(bits);
    return cut(Wide(x.first) << y.first, Wide(x.last) << y.first, bits);
  case SF_OP_LSHR:
    return isOne(y) && y.first < bits ? Range{x.first >> y.first, x.last >> y.first}
                                      : anything(bits);
  default:
    return anything(bits);
  }
}

} // namespace

Ranges intersection(const Ranges &left, const Ranges &right) {
  Ranges common;
  for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    Range both{std::max(left[i].first, right[j].first), std::min(left[i].last, right[j].last)};
    if (both.first <= both.last)
      common.push_back(both);
    left[i].last < right[j].last ? ++i : ++j;
  }
  return common;
}

std::optional<uint64_t> nearest(const Ranges &ranges, uint64_t centre) {
  std::optional<uint64_t> best;
  auto far = [&](uint64_t value) { return value < centre ? centre - value : value - centre; };
  for (const Range &range : ranges) {
    uint64_t value = std::clamp(centre, range.first, range.last);
    if (!best || far(value) < far(*best))
      best = value;
  }
  return best;
}

void addLength(const Trace &trace, uint64_t wanted, Assignment &assignment) {
  for (uint32_t i = 0; i < Trace::LengthBytes; ++i)
    assignment.push_back({trace.lengthAt + i, uint8_t(wanted >> (8 * i))});
}

bool Lengths::isAbout(uint32_t label) const {
  if (!trace.lengthBound)
    return false;
  auto list = trace.sets.intervals(trace.bytes[label]);
  return !list.empty() && list[0].first >= trace.lengthAt;
}

const Ranges *Lengths::truth(const Condition &condition) {
  auto [entry, fresh] = truths.try_emplace(mix(condition.label, condition.value));
  if (fresh)
    entry->second = solve(condition);
  return entry->second ? &*entry->second : nullptr;
}

std::optional<Ranges> Lengths::solve(const Condition &condition) {
  if (!plan(condition.label))
    return std::nullopt;
  Ranges found;
  // The lower half is on top, so that ranges are found in their order.
  std::vector<Range> open = {{0, trace.rows[trace.lengthBound].k}};
  for (size_t work = 0; !open.empty(); work += cone.size()) {
    Range range = open.back();
    open.pop_back();
    Range told = values(range);
    const bool maybe = told.first <= condition.value && condition.value <= told.last;
    if (maybe && !isOne(told)) {
      if (isOne(range) || work > WorkMax)
        return std::nullopt;
      const uint64_t middle = range.first + (range.last - range.first) / 2;
      open.push_back({middle + 1, range.last});
      open.push_back({range.first, middle});
    } else if (maybe && !found.empty() && found.back().last + 1 == range.first) {
      found.back().last = range.last;
    } else if (maybe) {
      if (found.size() == RangesMax)
        return std::nullopt;
      found.push_back(range);
    }
  }
  return found;
}

bool Lengths::plan(uint32_t label) {
  cone.clear();
  known.clear();
  std::vector<uint32_t> stack = {label};
  known.emplace(label, Range{});
  while (!stack.empty()) {
    cone.push_back(stack.back());
    stack.pop_back();
    if (cone.size() > RowsMax)
      return false;
    Trace::forEachOperand(trace.rows[cone.back()], [&](uint32_t operand) {
      if (known.emplace(operand, Range{}).second)
        stack.push_back(operand);
    });
  }
  std::ranges::sort(cone);
  return true;
}

Range Lengths::values(Range lengths) {
  for (uint32_t label : cone)
    known[label] = valuesOf(trace.rows[label], lengths);
  return known[cone.back()];
}

Range Lengths::valuesOf(const sf_row &row, Range lengths) {
  const unsigned bits = row.bits;
  switch (row.op) {
  case SF_OP_CONST:
    return {row.k, row.k};
  case SF_OP_INPUT: {
    const unsigned shift = 8 * unsigned(row.k - trace.lengthAt);
    return cut(lengths.first >> shift, lengths.last >> shift, bits);
  }
  case SF_OP_TABLE:
  case SF_OP_ARRAY: {
    Range index = known.at(row.a);
    uint64_t element = trace.tableElement(row, index.first);
    return isOne(index) ? Range{element, element} : anything(bits);
  }
  }
  if (hasFourOperands(row.op) || isPrinted(row.op))
    return anything(bits);
  const bool hasB = isBinary(row.op) || row.op == SF_OP_CONCAT || isTernary(row.op);
  const Range constant{row.k, row.k};
  Range x = row.a ? known.at(row.a) : constant;
  Range y = !hasB ? Range{0, 0} : row.b ? known.at(row.b) : constant;
  Range z = isTernary(row.op) ? known.at(row.c) : Range{0, 0};
  if (isOne(x) && isOne(y) && isOne(z)) {
    uint64_t value = withOperation(row.op, [&]<uint8_t Op>() {
      return apply<Op>(row.bits, row.aux, x.first, y.first, z.first);
    });
    return {value, value};
  }
  switch (row.op) {
  case SF_OP_EQ:
  case SF_OP_NE:
    return equal(x, y, row.op == SF_OP_EQ);
  case SF_OP_ULT:
  case SF_OP_ULE:
    return less(x, y, row.op == SF_OP_ULE);
  case SF_OP_SLT:
  case SF_OP_SLE:
    return less(ordered(x, row.aux), ordered(y, row.aux), row.op == SF_OP_SLE);
  case SF_OP_ZEXT:
    return x;
  case SF_OP_SEXT: {
    const uint64_t ones = lowBits(bits) & ~lowBits(row.aux);
    if (crossesSign(x, row.aux))
      return anything(bits);
    return x.first >> (row.aux - 1) ? Range{x.first | ones, x.last | ones} : x;
  }
  case SF_OP_EXTRACT:
    return cut(x.first >> row.aux, x.last >> row.aux, bits);
  case SF_OP_CONCAT:
    return {x.first << row.aux | y.first, x.last << row.aux | y.last};
  case SF_OP_ITE:
    if (isOne(x))
      return x.first ? y : z;
    return {std::min(y.first, z.first), std::max(y.last, z.last)};
  default:
    return arithmetic(row.op, bits, x, y);
  }
}

} // namespace sf
