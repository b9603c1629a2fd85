#include "trace.h"
#include "mix.h"
#include "semantics.h"

#include <algorithm>

namespace sf {

Trace::Trace(RawTable table, std::vector<uint8_t> recordedInput, uint64_t lengthMax,
             bool terminated)
    : rows(std::move(table.rows)), input(std::move(recordedInput)), length(uint32_t(input.size())),
      blobs(std::move(table.blobs)) {
  if (terminated)
    input.push_back(0);
  lengthAt = uint32_t(input.size());
  if (rows.empty())
    rows.push_back({});
  rows[0] = {};
  makeLengthSolvable(lengthMax);
  seed.resize(rows.size());
  hash.resize(rows.size());
  bytes.resize(rows.size());
  for (uint32_t i = 1; i < rows.size(); ++i) {
    if (normalise(i)) {
      annotate(i);
    } else {
      rows[i] = {};
      ++skippedRows;
    }
  }
  events.reserve(table.events.size());
  for (const sf_event &event : table.events)
    if (admits(event))
      events.push_back(event);
}

/// Turn the length into bytes behind the input, and bound it.
void Trace::makeLengthSolvable(uint64_t lengthMax) {
  const size_t recorded = rows.size();
  uint32_t first = 0;
  for (uint32_t i = 1; i < recorded; ++i) {
    sf_row &row = rows[i];
    if (row.op != SF_OP_LENGTH)
      continue;
    bool valid = row.bits == LengthBytes * 8;
    row = {valid ? uint8_t(SF_OP_INPUT) : uint8_t(SF_OP_INVALID), row.bits, 0, 0, 0, 0, lengthAt};
    if (valid && !first)
      first = i;
  }
  if (!first)
    return;
  for (uint32_t i = 0; i < LengthBytes; ++i)
    input.push_back(uint8_t(length >> (8 * i)));
  const uint64_t most = std::clamp<uint64_t>(lengthMax, length, UINT32_MAX);
  lengthBound = uint32_t(recorded);
  rows.push_back({SF_OP_ULE, 1, LengthBytes * 8, first, 0, 0, most});
}

bool Trace::normaliseBinary(uint32_t index) {
  sf_row &row = rows[index];
  const bool arithmetic = isBinaryArithmetic(row.op);
  const unsigned wanted = arithmetic ? row.bits : row.aux;
  row.c = 0;
  row.k &= lowBits(wanted);
  return wanted >= 1 && wanted <= 64 && (arithmetic || row.bits == 1) && (row.a || row.b) &&
         (!row.a || operandWidth(row.a, index) == wanted) &&
         (!row.b || operandWidth(row.b, index) == wanted);
}

/// Check the operands of a row of up to four: all that are needed, no others.
bool Trace::normaliseFour(uint32_t index) {
  sf_row &row = rows[index];
  const bool isText = row.op == SF_OP_TEXT;
  if (row.k > UINT32_MAX || row.a == 0)
    return false;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t label = operandOf(row, i);
    unsigned wanted = isText ? (label ? 64 : 0) : floatOperandWidth(row.aux, i);
    if (operandWidth(label, index) != wanted || (wanted == 0 && label != 0))
      return false;
    if (i > 0 && label && !operandOf(row, i - 1))
      return false;
  }
  return isText ? textWidthFits(row.aux, row.bits) : floatWidthFits(row.aux, row.bits);
}

bool Trace::normalisePrinted(uint32_t index) {
  const sf_row &row = rows[index];
  const unsigned a = operandWidth(row.a, index);
  if (isPrinted(row.op))
    return a != 0 && row.bits == 8 && row.c >> 28 == 0;
  const uint64_t room = row.c & 0xff;
  return a == row.bits && row.k < input.size() && room <= input.size() - row.k;
}

/// Check one row against the rows below it and bring it into the form that
/// semantics.h describes. Answers false when the row cannot be used.
bool Trace::normalise(uint32_t index) {
  sf_row &row = rows[index];
  const unsigned bits = row.bits;
  if (bits < 1 || bits > 64)
    return false;
  if (isBinary(row.op))
    return normaliseBinary(index);
  if (hasFourOperands(row.op))
    return normaliseFour(index);

  if (row.op == SF_OP_CONST || row.op == SF_OP_INPUT)
    row.a = 0;
  if (row.op != SF_OP_CONCAT && !isTernary(row.op))
    row.b = 0;
  if (row.op == SF_OP_NUMBER || isPrinted(row.op))
    return normalisePrinted(index);
  if (!isTernary(row.op) && row.op != SF_OP_TABLE && row.op != SF_OP_ARRAY)
    row.c = 0;
  const unsigned a = operandWidth(row.a, index), b = operandWidth(row.b, index);
  switch (row.op) {
  case SF_OP_CONST:
    row.k &= lowBits(bits);
    return true;
  case SF_OP_INPUT:
    return bits % 8 == 0 && row.k < input.size() && bits / 8 <= input.size() - row.k &&
           (row.k >= lengthAt || bits / 8 <= lengthAt - row.k);
  case SF_OP_ZEXT:
  case SF_OP_SEXT:
    row.aux = uint16_t(a);
    return a != 0 && a <= bits;
  case SF_OP_EXTRACT:
    return a != 0 && row.aux + bits <= a;
  case SF_OP_CONCAT:
    row.aux = uint16_t(b);
    return a != 0 && b != 0 && a + b == bits;
  case SF_OP_ITE:
    return a == 1 && b == bits && operandWidth(row.c, index) == bits;
  case SF_OP_BSWAP:
    return bits % 16 == 0 && a == bits;
  case SF_OP_CTPOP:
  case SF_OP_CTLZ:
  case SF_OP_CTTZ:
  case SF_OP_BITREVERSE:
    return a == bits;
  case SF_OP_UDIVW:
  case SF_OP_UREMW:
    return a == bits && b == bits && operandWidth(row.c, index) == bits;
  case SF_OP_TABLE: {
    uint64_t size = uint64_t(bits) / 8 * 256;
    return bits % 8 == 0 && a == 8 && row.c <= blobs.size() && size <= blobs.size() - row.c;
  }
  case SF_OP_ARRAY:
    return bits % 8 == 0 && a != 0 && row.k > 0 && row.c <= blobs.size() &&
           row.k <= (blobs.size() - row.c) / (bits / 8);
  default:
    return false;
  }
}

uint64_t Trace::blobHash(const sf_row &row) const {
  uint64_t result = 0;
  for (uint64_t i = 0; i < tableSize(row); ++i)
    result = mix(result, tableElement(row, i));
  return result;
}

/// Value on the input, structural hash and byte set of a valid row.
void Trace::annotate(uint32_t index) {
  const sf_row &row = rows[index];
  uint64_t shape = uint64_t(row.op) << 32 | uint64_t(row.bits) << 16 | row.aux;
  switch (row.op) {
  case SF_OP_CONST:
    seed[index] = row.k;
    hash[index] = mix(shape, row.k);
    return;
  case SF_OP_INPUT:
    seed[index] = inputValue(row, input);
    hash[index] = mix(shape, row.k);
    bytes[index] = sets.interval(uint32_t(row.k), uint32_t(row.k + row.bits / 8 - 1));
    return;
  case SF_OP_TABLE:
  case SF_OP_ARRAY:
    seed[index] = tableElement(row, seed[row.a]);
    hash[index] = mix(mix(shape, hash[row.a]), blobHash(row));
    bytes[index] = bytes[row.a];
    return;
  case SF_OP_NUMBER:
  case SF_OP_PRINTED:
  case SF_OP_PRINTED_SIZE:
    seed[index] =
        isPrinted(row.op) ? printedValue(row, seed[row.a], rows[row.a].bits) : seed[row.a];
    hash[index] = mix(mix(mix(shape, hash[row.a]), row.c), row.k);
    bytes[index] = bytes[row.a];
    return;
  }
  if (hasFourOperands(row.op)) {
    hasFloats = true;
    FourValues values{};
    hash[index] = shape;
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t operand = operandOf(row, i);
      values[i] = seed[operand];
      hash[index] = mix(hash[index], hash[operand]);
      bytes[index] = sets.unite(bytes[index], bytes[operand]);
    }
    seed[index] = applyFloat(row, values);
    return;
  }
  uint64_t x = row.a ? seed[row.a] : row.k;
  uint64_t y = row.b ? seed[row.b] : row.k;
  seed[index] = withOperation(
      row.op, [&]<uint8_t Op>() { return apply<Op>(row.bits, row.aux, x, y, seed[row.c]); });
  bool hasConstant = isBinary(row.op) && (!row.a || !row.b);
  hash[index] = mix(shape, hasConstant ? row.k : 0);
  // Position counts: an absent operand is mixed in as 0.
  for (uint32_t operand : {row.a, row.b, row.c}) {
    hash[index] = mix(hash[index], hash[operand]);
    bytes[index] = sets.unite(bytes[index], bytes[operand]);
  }
}

/// Decide whether an event can be used, counting those that cannot.
bool Trace::admits(const sf_event &event) {
  if (event.kind == SF_EV_EOF)
    return true;
  bool known = event.kind == SF_EV_BRANCH || event.kind == SF_EV_GOAL || event.kind == SF_EV_FACT;
  if (!known || event.label == 0 || event.label >= rows.size() ||
      rows[event.label].op == SF_OP_INVALID || event.taken > 1 ||
      (event.kind != SF_EV_FACT && rows[event.label].bits != 1)) {
    ++skippedEvents;
    return false;
  }
  if (bytes[event.label] == 0)
    return false; // a constant in disguise: says nothing, can change nothing
  uint64_t said = event.kind == SF_EV_FACT ? event.value : event.taken;
  if (seed[event.label] != said) {
    // The expression does not say what the program did. As a constraint it
    // would refute everything, as a goal it is met already.
    ++inconsistentEvents;
    return false;
  }
  return true;
}

} // namespace sf
