#include "trace.h"
#include "mix.h"
#include "semantics.h"

namespace sf {

Trace::Trace(RawTable table, std::vector<uint8_t> recordedInput)
    : rows(std::move(table.rows)), input(std::move(recordedInput)), blobs(std::move(table.blobs)) {
  if (rows.empty())
    rows.push_back({});
  rows[0] = {};
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

/// Check one row against the rows below it and bring it into the form that
/// semantics.h describes. Answers false when the row cannot be used.
bool Trace::normalise(uint32_t index) {
  sf_row &row = rows[index];
  const unsigned bits = row.bits;
  if (bits < 1 || bits > 64)
    return false;
  // Width of an operand, or 0 when it is not a valid row below this one.
  auto operand = [&](uint32_t label) -> unsigned {
    return label > 0 && label < index ? rows[label].bits : 0;
  };

  if (isBinary(row.op)) {
    unsigned wanted = isBinaryArithmetic(row.op) ? bits : row.aux;
    if (wanted < 1 || wanted > 64 || (!isBinaryArithmetic(row.op) && bits != 1))
      return false;
    if (row.a == 0 && row.b == 0)
      return false;
    if ((row.a && operand(row.a) != wanted) || (row.b && operand(row.b) != wanted))
      return false;
    row.k &= lowBits(wanted);
    return true;
  }

  switch (row.op) {
  case SF_OP_CONST:
    row.a = row.b = row.c = 0;
    row.k &= lowBits(bits);
    return true;
  case SF_OP_INPUT:
    row.a = row.b = row.c = 0;
    return bits % 8 == 0 && row.k < input.size() && bits / 8 <= input.size() - row.k;
  case SF_OP_ZEXT:
  case SF_OP_SEXT:
    row.aux = uint16_t(operand(row.a));
    return row.aux != 0 && row.aux <= bits;
  case SF_OP_EXTRACT:
    return operand(row.a) != 0 && row.aux + bits <= operand(row.a);
  case SF_OP_CONCAT: {
    unsigned high = operand(row.a), low = operand(row.b);
    row.aux = uint16_t(low);
    return high != 0 && low != 0 && high + low == bits;
  }
  case SF_OP_ITE:
    return operand(row.a) == 1 && operand(row.b) == bits && operand(row.c) == bits;
  case SF_OP_BSWAP:
    return bits % 16 == 0 && operand(row.a) == bits;
  case SF_OP_CTPOP:
  case SF_OP_CTLZ:
  case SF_OP_CTTZ:
    return operand(row.a) == bits;
  case SF_OP_TABLE: {
    uint64_t size = uint64_t(bits) / 8 * 256;
    return bits % 8 == 0 && operand(row.a) == 8 && row.c <= blobs.size() &&
           size <= blobs.size() - row.c;
  }
  default:
    return false;
  }
}

uint64_t Trace::blobHash(const sf_row &row) const {
  uint64_t result = 0;
  for (unsigned i = 0; i < 256; ++i)
    result = mix(result, tableElement(row, uint8_t(i)));
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
    seed[index] = tableElement(row, uint8_t(seed[row.a]));
    hash[index] = mix(mix(shape, hash[row.a]), blobHash(row));
    bytes[index] = bytes[row.a];
    return;
  }
  const bool binary = isBinary(row.op);
  uint64_t x = row.a || !binary ? seed[row.a] : row.k;
  uint64_t y = row.b || !binary ? seed[row.b] : row.k;
  bool unary = !binary && row.op != SF_OP_CONCAT && row.op != SF_OP_ITE;
  uint32_t b = unary ? 0 : row.b;
  uint32_t c = row.op == SF_OP_ITE ? row.c : 0;
  seed[index] = withOperation(
      row.op, [&]<uint8_t Op>() { return apply<Op>(row.bits, row.aux, x, y, seed[c]); });
  uint64_t constant = binary && (!row.a || !row.b) ? row.k : 0;
  hash[index] = mix(mix(mix(mix(shape, hash[row.a]), hash[b]), hash[c]), constant);
  bytes[index] = sets.unite(sets.unite(bytes[row.a], bytes[b]), bytes[c]);
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
