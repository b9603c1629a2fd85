#include "lanes.h"
#include "semantics.h"

#include <algorithm>

namespace sf {

Lanes::Lanes(const Trace &recorded)
    : trace(recorded), stamps(recorded.rows.size()), columnOf(recorded.rows.size()) {}

bool Lanes::prepare(std::span<const uint32_t> labels, std::span<const uint32_t> varying,
                    size_t rowsMax) {
  target = labels.front();
  varyingBytes.assign(varying.begin(), varying.end());
  cone.clear();
  texts = 0;
  stack.assign(labels.begin(), labels.end());
  ++generation;
  while (!stack.empty()) {
    uint32_t top = stack.back();
    stack.pop_back();
    if (top == 0 || stamps[top] == generation ||
        !trace.sets.touches(trace.bytes[top], varyingBytes))
      continue;
    stamps[top] = generation;
    cone.push_back(top);
    if (cone.size() > rowsMax)
      return false;
    const sf_row &row = trace.rows[top];
    if (row.op == SF_OP_INPUT)
      continue;
    texts += isPrinted(row.op);
    stack.push_back(row.a);
    if (isBinary(row.op) || row.op == SF_OP_CONCAT || isTernary(row.op))
      stack.push_back(row.b);
    if (isTernary(row.op))
      stack.push_back(row.c);
    for (unsigned i = 1; i < 4 && hasFourOperands(row.op); ++i)
      stack.push_back(operandOf(row, i));
  }
  std::ranges::sort(cone); // operands come before their users
  steps.clear();
  for (uint32_t row : cone)
    plan(row);
  if (columns.size() < cone.size())
    columns.resize(cone.size());
  return true;
}

/// Resolve the operands of one row to columns or to fixed values.
void Lanes::plan(uint32_t label) {
  const sf_row &row = trace.rows[label];
  const bool binary = isBinary(row.op);
  Step step{label, -1, -1, -1, -1, row.k, row.k, 0, 0};
  auto resolve = [&](uint32_t operand, int32_t &column, uint64_t &same) {
    if (operand == 0)
      return; // the constant k
    if (stamps[operand] == generation)
      column = columnOf[operand];
    else
      same = trace.seed[operand];
  };
  if (row.op != SF_OP_INPUT)
    resolve(row.a, step.a, step.x);
  if (binary || row.op == SF_OP_CONCAT || isTernary(row.op))
    resolve(row.b, step.b, step.y);
  if (isTernary(row.op))
    resolve(row.c, step.c, step.z);
  if (hasFourOperands(row.op)) {
    step.y = 0;
    resolve(row.b, step.b, step.y);
    resolve(row.c, step.c, step.z);
    resolve(uint32_t(row.k), step.d, step.w);
  }
  columnOf[label] = int32_t(steps.size());
  steps.push_back(step);
}

void Lanes::readInput(const sf_row &row, Column &out, std::span<const Bytes> values) {
  out.fill(trace.inputValue(row, trace.input));
  for (size_t i = 0; i < varyingBytes.size(); ++i) {
    uint64_t at = uint64_t(varyingBytes[i]) - row.k;
    if (varyingBytes[i] < row.k || at >= row.bits / 8u)
      continue;
    uint64_t keep = ~(uint64_t(0xff) << (8 * at));
    for (unsigned lane = 0; lane < Width; ++lane)
      out[lane] = (out[lane] & keep) | uint64_t(values[i][lane]) << (8 * at);
  }
}

void Lanes::executeFour(const Step &step, Column &out) {
  const sf_row &row = trace.rows[step.row];
  const int32_t from[] = {step.a, step.b, step.c, step.d};
  FourValues values = {step.x, step.y, step.z, step.w};
  for (unsigned lane = 0; lane < Width; ++lane) {
    for (unsigned i = 0; i < 4; ++i)
      if (from[i] >= 0)
        values[i] = columns[from[i]][lane];
    out[lane] = applyFloat(row, values);
  }
}

void Lanes::execute(const Step &step, Column &out, std::span<const Bytes> values) {
  const sf_row &row = trace.rows[step.row];
  if (row.op == SF_OP_INPUT)
    return readInput(row, out, values);
  if (row.op == SF_OP_TABLE || row.op == SF_OP_ARRAY) {
    for (unsigned lane = 0; lane < Width; ++lane)
      out[lane] = trace.tableElement(row, columns[step.a][lane]);
    return;
  }
  if (hasFourOperands(row.op))
    return executeFour(step, out);
  if (isPrinted(row.op)) {
    for (unsigned lane = 0; lane < Width; ++lane)
      out[lane] = printedValue(row, columns[step.a][lane], trace.width(row.a));
    return;
  }
  // A fixed operand is spread once, so that each operation is one plain loop.
  auto column = [&](int32_t index, uint64_t value, unsigned slot) -> const Column & {
    if (index >= 0)
      return columns[index];
    fixed[slot].fill(value);
    return fixed[slot];
  };
  const Column &x = column(step.a, step.x, 0);
  const Column &y = column(step.b, step.y, 1);
  const Column &z = isTernary(row.op) ? column(step.c, step.z, 2) : y;
  withOperation(row.op, [&]<uint8_t Op>() {
    const unsigned bits = row.bits, aux = row.aux;
    for (unsigned lane = 0; lane < Width; ++lane)
      out[lane] = apply<Op>(bits, aux, x[lane], y[lane], z[lane]);
  });
}

void Lanes::compute(std::span<const Bytes> values) {
  for (size_t i = 0; i < steps.size(); ++i)
    execute(steps[i], columns[i], values);
}

Lanes::Mask Lanes::run(std::span<const Bytes> values, uint64_t wanted) {
  Mask mask;
  if (steps.empty()) {
    if (trace.seed[target] == wanted)
      mask.set();
    return mask;
  }
  compute(values);
  const Column &result = columns[columnOf[target]];
  for (unsigned lane = 0; lane < Width; ++lane)
    mask[lane] = result[lane] == wanted;
  return mask;
}

} // namespace sf
