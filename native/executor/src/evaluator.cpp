#include "evaluator.h"
#include "semantics.h"

#include <algorithm>

namespace sf {

Assignment merged(const Assignment &base, const Assignment &changes) {
  Assignment all = changes;
  for (const ByteChange &change : base)
    if (!std::ranges::binary_search(changes, change.offset, {}, &ByteChange::offset))
      all.push_back(change);
  std::ranges::sort(all, {}, &ByteChange::offset);
  return all;
}

Evaluator::Evaluator(const Trace &recorded)
    : trace(recorded), input(recorded.input), values(recorded.rows.size()),
      stamps(recorded.rows.size()), setStamps(recorded.sets.count()),
      setTouched(recorded.sets.count()) {}

void Evaluator::assume(const Assignment &changes) {
  for (uint32_t offset : offsets)
    input[offset] = trace.input[offset];
  offsets.clear();
  for (const ByteChange &change : changes) {
    input[change.offset] = change.value;
    offsets.push_back(change.offset);
  }
  ++generation;
}

/// Tell whether a row reads a changed byte; answered once per byte set.
bool Evaluator::changed(uint32_t label) {
  uint32_t set = trace.bytes[label];
  if (setStamps[set] != generation) {
    setStamps[set] = generation;
    setTouched[set] = trace.sets.touches(set, offsets);
  }
  return setTouched[set];
}

uint64_t Evaluator::value(uint32_t label) {
  if (!changed(label))
    return trace.seed[label];
  if (stamps[label] == generation)
    return values[label];
  stack.assign(1, label);
  while (!stack.empty()) {
    uint32_t top = stack.back();
    const sf_row &row = trace.rows[top];
    size_t before = stack.size();
    // Unused operand fields may hold anything, so only those of the op count.
    auto need = [&](uint32_t operand) {
      if (operand && stamps[operand] != generation && changed(operand))
        stack.push_back(operand);
    };
    if (row.op != SF_OP_CONST && row.op != SF_OP_INPUT)
      need(row.a);
    if (isBinary(row.op) || row.op == SF_OP_CONCAT || isTernary(row.op))
      need(row.b);
    if (isTernary(row.op))
      need(row.c);
    for (unsigned i = 1; i < 4 && hasFourOperands(row.op); ++i)
      need(operandOf(row, i));
    if (stack.size() != before)
      continue;
    stack.pop_back();
    if (stamps[top] != generation)
      compute(top);
  }
  return values[label];
}

/// Compute one row whose operands are known.
void Evaluator::compute(uint32_t label) {
  const sf_row &row = trace.rows[label];
  auto known = [&](uint32_t operand) {
    return stamps[operand] == generation ? values[operand] : trace.seed[operand];
  };
  stamps[label] = generation;
  switch (row.op) {
  case SF_OP_INPUT:
    values[label] = trace.inputValue(row, input);
    return;
  case SF_OP_TABLE:
  case SF_OP_ARRAY:
    values[label] = trace.tableElement(row, known(row.a));
    return;
  case SF_OP_PRINTED:
  case SF_OP_PRINTED_SIZE:
    values[label] = printedValue(row, known(row.a), trace.width(row.a));
    return;
  }
  if (hasFourOperands(row.op)) {
    FourValues four{};
    for (unsigned i = 0; i < 4; ++i)
      four[i] = operandOf(row, i) ? known(operandOf(row, i)) : 0;
    values[label] = applyFloat(row, four);
    return;
  }
  const bool binary = isBinary(row.op);
  bool hasB = binary || row.op == SF_OP_CONCAT || isTernary(row.op);
  uint64_t x = row.a ? known(row.a) : row.k;
  uint64_t y = !hasB ? 0 : row.b ? known(row.b) : row.k;
  uint64_t z = isTernary(row.op) ? known(row.c) : 0;
  values[label] =
      withOperation(row.op, [&]<uint8_t Op>() { return apply<Op>(row.bits, row.aux, x, y, z); });
}

bool Evaluator::holdAll(std::span<const Condition> conditions) {
  for (const Condition &condition : conditions)
    if (!holds(condition))
      return false;
  return true;
}

} // namespace sf
