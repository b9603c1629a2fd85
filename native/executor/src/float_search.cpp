#include "float_search.h"
#include "float_distance.h"
#include "float_equations.h"
#include "float_groups.h"
#include "inversion.h"
#include "semantics.h"
#include "text_search.h"

#include <algorithm>
#include <tuple>

namespace sf {
namespace {

/// A field of the input as the program reads it.
struct Field {
  uint32_t offset;
  unsigned bits;
  bool swapped; // big-endian
  bool isText;  // characters of a number
};

/// What lies below a query.
struct Cone {
  size_t rows = 0;
  bool hasFloats = false;
  bool complete = true;
  std::vector<Field> fields;
  std::vector<uint64_t> constants;
  std::vector<TextNumber> numbers; // in the input's text
  std::vector<InputNumber> inputs; // read as numbers
};

bool isTextNumber(const sf_row &row) {
  return row.op == SF_OP_TEXT && !SF_TEXT_IS_LENGTH(SF_FLOAT_FUNCTION(row.aux));
}

/// The numbers among rows, in ascending order; one with a part missing is none.
std::vector<TextNumber> textNumbers(const Trace &trace, std::span<const uint32_t> rows) {
  std::vector<TextNumber> numbers;
  for (uint32_t label : rows) {
    const sf_row &row = trace.rows[label];
    if (!isTextNumber(row) || SF_FLOAT_HIGH(row.aux))
      continue;
    auto isOtherPart = [&](uint32_t other) {
      const sf_row &high = trace.rows[other];
      return isTextNumber(high) && high.a == row.a && high.b == row.b && high.c == row.c &&
             high.k == row.k && (high.aux ^ row.aux) == SF_FLOAT_AUX(0, 0, 0, 1);
    };
    auto high = std::ranges::find_if(rows, isOtherPart);
    if (SF_FLOAT_TO(row.aux) != SF_X87)
      numbers.push_back({label, 0});
    else if (high != rows.end())
      numbers.push_back({label, *high});
  }
  return numbers;
}

/// Numbers that operations read as they are in the input, by offset; of those that
/// overlap the first.
std::vector<InputNumber> inputNumbers(const Trace &trace, std::span<const uint32_t> rows) {
  std::vector<InputNumber> numbers;
  for (uint32_t label : rows) {
    const sf_row &row = trace.rows[label];
    const unsigned format = SF_FLOAT_FROM(row.aux), bits = widthOfFormat(format);
    if (row.op != SF_OP_FLOAT || (format != SF_SINGLE && format != SF_DOUBLE))
      continue;
    for (unsigned side = 0; side < floatArity(SF_FLOAT_FUNCTION(row.aux)); ++side) {
      uint32_t operand = operandOf(row, side);
      const bool swapped = trace.rows[operand].op == SF_OP_BSWAP;
      operand = swapped ? trace.rows[operand].a : operand;
      if (trace.rows[operand].op == SF_OP_INPUT && trace.width(operand) == bits)
        numbers.push_back({uint32_t(trace.rows[operand].k), format, swapped});
    }
  }
  std::ranges::sort(numbers, {}, [](const InputNumber &number) {
    return std::tuple(number.offset, number.format, number.swapped);
  });
  std::vector<InputNumber> apart;
  for (const InputNumber &number : numbers)
    if (apart.empty() ||
        number.offset >= apart.back().offset + widthOfFormat(apart.back().format) / 8)
      apart.push_back(number);
  return apart;
}

Cone coneOf(const Trace &trace, std::span<const Condition> conditions, size_t rowsMax) {
  Cone cone;
  std::vector<uint32_t> stack, seen;
  std::vector<uint32_t> swapped, text;
  for (const Condition &condition : conditions)
    stack.push_back(condition.label);
  std::vector<bool> visited(trace.rows.size());
  while (!stack.empty()) {
    uint32_t label = stack.back();
    stack.pop_back();
    if (visited[label])
      continue;
    visited[label] = true;
    const sf_row &row = trace.rows[label];
    bool constant = row.op == SF_OP_CONST || (isBinary(row.op) && (!row.a || !row.b));
    if (constant && !std::ranges::count(cone.constants, row.k) && cone.constants.size() < 32)
      cone.constants.push_back(row.k);
    if (trace.bytes[label] == 0)
      continue;
    seen.push_back(label);
    if (seen.size() > rowsMax) {
      cone.complete = false;
      return cone;
    }
    cone.hasFloats |= hasFourOperands(row.op);
    if (row.op == SF_OP_BSWAP)
      swapped.push_back(row.a);
    if (row.op == SF_OP_TEXT)
      for (uint32_t offset : trace.sets.offsets(trace.bytes[label], 4 * SF_TEXT_MAX))
        text.push_back(offset);
    Trace::forEachOperand(row, [&](uint32_t operand) { stack.push_back(operand); });
  }
  cone.rows = seen.size();
  std::ranges::sort(seen);
  cone.inputs = inputNumbers(trace, seen);
  cone.numbers = textNumbers(trace, seen);
  for (uint32_t label : seen) {
    const sf_row &row = trace.rows[label];
    if (row.op != SF_OP_INPUT || std::ranges::count(text, uint32_t(row.k)))
      continue;
    bool isSwapped = std::ranges::count(swapped, label) != 0;
    cone.fields.push_back({uint32_t(row.k), row.bits, isSwapped, false});
  }
  std::ranges::sort(text);
  text.erase(std::unique(text.begin(), text.end()), text.end());
  for (uint32_t offset : text)
    cone.fields.push_back({offset, 8, false, true});
  return cone;
}

/// Split `a and b` (or its opposite) into what must hold alone.
std::vector<Condition> partsOf(const Trace &trace, const Condition &goal) {
  constexpr size_t PartsMax = 64;
  std::vector<Condition> parts, work = {goal};
  while (!work.empty()) {
    Condition one = work.back();
    work.pop_back();
    const sf_row &row = trace.rows[one.label];
    bool both = row.bits == 1 && row.a && row.b && parts.size() + work.size() < PartsMax &&
                ((row.op == SF_OP_AND && one.value == 1) || (row.op == SF_OP_OR && one.value == 0));
    if (both) {
      work.push_back({row.b, one.value});
      work.push_back({row.a, one.value});
    } else if (row.bits == 1 && row.op == SF_OP_XOR && row.a && !row.b) {
      work.push_back({row.a, one.value ^ row.k});
    } else if (trace.bytes[one.label] != 0) {
      parts.push_back(one);
    }
  }
  return parts;
}

class Searching {
public:
  Searching(const Query &wanted, Workbench &shared, std::vector<Condition> all, const Cone &below,
            uint64_t evaluations)
      : query(wanted), bench(shared), conditions(std::move(all)), cone(below), budget(evaluations) {
  }

  bool repair();
  bool solveTogether();
  bool rewriteNumbers();
  bool descend();
  Assignment best; // the nearest that was met; with success the answer

private:
  static constexpr unsigned StartsMax = 12, RoundsMax = 8, WaysMax = 12;

  bool isMet(const Assignment &assignment) { return bench.accepts(query, assignment); }
  double measure(const Assignment &assignment);
  const Condition *firstBroken();
  bool repairFrom(unsigned start);
  bool descendField(const Field &field);
  bool tryValue(const Field &field, uint64_t value);
  uint64_t read(const Field &field) const;
  std::vector<uint64_t> specials(const Field &field) const;

  const Query &query;
  Workbench &bench;
  std::vector<Condition> conditions;
  const Cone &cone;
  uint64_t budget;
  double least = -1; // distance of `best`
};

/// Sum of the distances; keeps the nearest assignment.
double Searching::measure(const Assignment &assignment) {
  if (budget > 0)
    --budget;
  bench.evaluator.assume(assignment);
  double sum = 0;
  for (const Condition &condition : conditions)
    sum += distanceOf(bench.trace, bench.evaluator, condition);
  if (least < 0 || sum < least) {
    least = sum;
    best = assignment;
  }
  return sum;
}

const Condition *Searching::firstBroken() {
  for (const Condition &condition : conditions)
    if (!bench.evaluator.holds(condition))
      return &condition;
  return nullptr;
}

/// Invert one broken condition after the other, each from where the last one led.
bool Searching::repairFrom(unsigned start) {
  Assignment here, held;
  for (unsigned round = 0; round < RoundsMax && budget > 0; ++round) {
    bench.evaluator.assume(here);
    const Condition *broken = firstBroken();
    if (!broken)
      return isMet(here);
    double nearest = -1;
    Assignment next, set;
    unsigned first = round == 0 ? start : 0;
    for (unsigned way = first; way < first + WaysMax && budget > 0; ++way) {
      bool last = false;
      bench.evaluator.assume(here);
      std::optional<Assignment> reached =
          Inversion::attempt(bench.trace, bench.evaluator, *broken, held, way, last);
      if (last)
        break;
      if (!reached)
        continue;
      Assignment whole = merged(here, *reached);
      double distance = measure(whole);
      if (distance == 0 && isMet(whole)) {
        best = whole;
        return true;
      }
      if (nearest < 0 || distance < nearest) {
        nearest = distance;
        next = std::move(whole);
        set = std::move(*reached);
      }
      if (round == 0)
        break; // a start differs from the others by its first way
    }
    if (nearest < 0 && held.empty())
      return false;
    if (nearest >= 0)
      here = next;
    held = nearest < 0 ? Assignment{} : set;
  }
  return false;
}

bool Searching::repair() {
  measure({});
  for (unsigned start = 0; start < StartsMax && budget > 0; ++start)
    if (repairFrom(start))
      return true;
  return false;
}

bool Searching::solveTogether() {
  return solveEquations(query, bench, conditions, cone.inputs, budget, best) ||
         searchGroups(query, bench, conditions, best);
}

bool Searching::rewriteNumbers() {
  constexpr size_t NumbersMax = 4;
  for (size_t i = 0; i < cone.numbers.size() && i < NumbersMax; ++i)
    if (searchText(query, bench, conditions, cone.numbers[i], budget, best))
      return true;
  return false;
}

uint64_t Searching::read(const Field &field) const {
  uint64_t value = 0;
  for (unsigned i = 0; i < field.bits / 8; ++i) {
    uint32_t offset = field.offset + i;
    auto at = std::ranges::lower_bound(best, offset, {}, &ByteChange::offset);
    uint8_t byte = at != best.end() && at->offset == offset ? at->value : bench.trace.input[offset];
    value |= uint64_t(byte) << (8 * i);
  }
  return field.swapped ? __builtin_bswap64(value) >> (64 - field.bits) : value;
}

/// Give a field a value; keeps it when that is nearer.
bool Searching::tryValue(const Field &field, uint64_t value) {
  value &= lowBits(field.bits);
  if (budget == 0 || value == read(field))
    return false;
  uint64_t stored = field.swapped ? __builtin_bswap64(value) >> (64 - field.bits) : value;
  Assignment change;
  for (unsigned i = 0; i < field.bits / 8; ++i)
    change.push_back({field.offset + i, uint8_t(stored >> (8 * i))});
  double before = least;
  measure(merged(best, change));
  return least < before;
}

std::vector<uint64_t> Searching::specials(const Field &field) const {
  std::vector<uint64_t> values;
  if (field.isText) {
    for (char c : {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '-', 'e', ' ', '\0'})
      values.push_back(uint8_t(c));
    return values;
  }
  for (uint64_t constant : cone.constants)
    for (uint64_t near : {constant, constant + 1, constant - 1})
      values.push_back(near);
  values.push_back(0);
  values.push_back(read(field) ^ uint64_t(1) << (field.bits - 1));
  if (field.bits == 32 || field.bits == 64)
    for (long double value : {1.0L, -1.0L, 1e300L * 1e300L, 0.0L * (1e4000L * 1e4000L)})
      values.push_back(numberOf(value, field.bits == 32 ? SF_SINGLE : SF_DOUBLE).low);
  return values;
}

bool Searching::descendField(const Field &field) {
  bool nearer = false;
  for (uint64_t value : specials(field))
    nearer |= tryValue(field, value);
  for (unsigned bit = field.bits; bit-- > 0 && !field.isText && least > 0;)
    for (uint64_t step : {uint64_t(1) << bit, uint64_t(0) - (uint64_t(1) << bit)})
      while (tryValue(field, read(field) + step))
        nearer = true;
  return nearer;
}

bool Searching::descend() {
  bool nearer = true;
  while (nearer && budget > 0 && least > 0) {
    nearer = false;
    for (const Field &field : cone.fields)
      if (least > 0)
        nearer |= descendField(field);
  }
  return least == 0 && isMet(best);
}

} // namespace

Answer FloatSearch::solve(const Query &query, Workbench &bench) {
  if (!bench.trace.hasFloats)
    return {};
  std::vector<Condition> conditions = partsOf(bench.trace, query.goal);
  Cone ofGoal = coneOf(bench.trace, conditions, RowsMax);
  for (const Condition &condition : query.slice)
    if (conditions.size() < ConditionsMax)
      conditions.push_back(condition);
  Cone cone = coneOf(bench.trace, conditions, RowsMax);
  if (!cone.complete || !ofGoal.complete || !cone.hasFloats)
    return {};
  cone.fields = ofGoal.fields;
  cone.numbers = ofGoal.numbers;
  cone.inputs = ofGoal.inputs;
  Searching searching(query, bench, std::move(conditions), cone,
                      RowRunsMax / std::max<size_t>(cone.rows, 64));
  if (searching.repair() || searching.solveTogether() || searching.rewriteNumbers() ||
      searching.descend())
    return {Verdict::Sat, searching.best, false};
  Answer nothing;
  nothing.isLast = ofGoal.hasFloats;
  return nothing;
}

} // namespace sf
