#include "inversion_descent.h"
#include "float_inversion.h"
#include "written_numbers.h"

#include <algorithm>

namespace sf {

bool Descent::run(const Condition &goal) {
  work.push_back(goal);
  for (unsigned step = 0; !work.empty() || !twins.empty() || !printed.empty(); ++step) {
    if (step == StepsMax || (work.empty() && twins.empty() && !pushPrinted()))
      return false;
    if (!twins.empty()) {
      Twins both = twins.back();
      twins.pop_back();
      if (!pushFour(trace.rows[both.low], both.value))
        return false;
      continue;
    }
    Condition wanted = work.back();
    work.pop_back();
    if (!push(wanted))
      return false;
  }
  return !bytes.empty() || numbers;
}

bool Descent::push(const Condition &wanted) {
  const sf_row &row = trace.rows[wanted.label];
  const uint64_t value = wanted.value, mask = lowBits(row.bits);
  if (trace.bytes[wanted.label] == 0)
    return now(wanted.label) == value;
  if (isBinary(row.op))
    return pushBinary(row, value);
  if (hasFourOperands(row.op)) {
    // One part of a number alone: the other one stays.
    bool high = SF_FLOAT_HIGH(row.aux);
    Number whole{value, 0};
    if (row.bits != 1 && SF_FLOAT_TO(row.aux) == SF_X87) {
      FourValues values{};
      for (unsigned i = 0; i < 4; ++i)
        values[i] = operandOf(row, i) ? now(operandOf(row, i)) : 0;
      whole = numberGiven(row, values);
      (high ? (void)(whole.high = uint16_t(value)) : (void)(whole.low = value));
    }
    return pushFour(row, whole);
  }
  switch (row.op) {
  case SF_OP_INPUT:
    return setInput(row, value);
  case SF_OP_ZEXT:
    return want(row.a, value);
  case SF_OP_SEXT: {
    uint64_t low = value & lowBits(row.aux);
    return (uint64_t(asSigned(low, row.aux)) & mask) == value && want(row.a, low);
  }
  case SF_OP_EXTRACT:
    // Other bits of a byte may be wanted from elsewhere.
    if (trace.rows[row.a].op == SF_OP_INPUT)
      return setInput(trace.rows[row.a], value << row.aux, mask << row.aux);
    return want(row.a, (now(row.a) & ~(mask << row.aux)) | value << row.aux);
  case SF_OP_CONCAT:
    return want(row.b, value & lowBits(row.aux)) && want(row.a, value >> row.aux);
  case SF_OP_ITE: {
    // Keep the condition and change the arm that is taken, or take the other.
    bool taken = now(row.a);
    bool other = choose(2);
    if (other && !want(row.a, !taken))
      return false;
    return want(taken != other ? row.b : row.c, value);
  }
  case SF_OP_BSWAP:
    return want(row.a, __builtin_bswap64(value) >> (64 - row.bits));
  case SF_OP_CTPOP:
    return value <= row.bits && want(row.a, lowBits(unsigned(value)));
  case SF_OP_CTLZ:
    return value <= row.bits &&
           want(row.a, value == row.bits ? 0 : uint64_t(1) << (row.bits - 1 - value));
  case SF_OP_CTTZ:
    return value <= row.bits && want(row.a, value == row.bits ? 0 : uint64_t(1) << value);
  case SF_OP_BITREVERSE:
    return want(row.a, reverseBits(value, row.bits));
  case SF_OP_TABLE:
  case SF_OP_ARRAY:
    return pushTable(row, value);
  case SF_OP_UDIVW:
  case SF_OP_UREMW:
    return pushDivision(row, value);
  case SF_OP_NUMBER:
    return pushNumber(wanted.label, value);
  case SF_OP_PRINTED:
    return pushCharacter(wanted.label, value);
  case SF_OP_PRINTED_SIZE: {
    const bool negative = choose(2);
    auto number = numberWithLength(row, trace.width(row.a), value, negative);
    return number && want(row.a, *number);
  }
  }
  return false;
}

bool Descent::setByte(ByteChange change, uint8_t bits) {
  auto at = std::ranges::lower_bound(bytes, change.offset, {}, &ByteChange::offset);
  const auto index = at - bytes.begin();
  if (at == bytes.end() || at->offset != change.offset) {
    bytes.insert(at, change);
    settled.insert(settled.begin() + index, bits);
    return true;
  }
  if ((at->value ^ change.value) & settled[size_t(index)] & bits)
    return false;
  at->value = uint8_t((at->value & ~bits) | (change.value & bits));
  settled[size_t(index)] |= bits;
  return true;
}

/// Give the input those bits of a value; the others stay.
bool Descent::setInput(const sf_row &row, uint64_t wanted, uint64_t bits) {
  const uint64_t present = now(uint32_t(&row - trace.rows.data()));
  wanted = (present & ~bits) | (wanted & bits);
  for (unsigned i = 0; i < row.bits / 8u; ++i)
    if (uint8_t part = uint8_t(bits >> (8 * i)))
      if (!setByte({uint32_t(row.k + i), uint8_t(wanted >> (8 * i))}, part))
        return false;
  return true;
}

/// Choose among the numbers whose element is the wanted one.
bool Descent::pushTable(const sf_row &row, uint64_t wanted) {
  // Texts are about printable characters, so these come first; a NUL would end them.
  std::vector<uint32_t> fitting, others;
  for (uint64_t i = 0; i < Trace::tableSize(row); ++i)
    if (trace.tableElement(row, i) == wanted)
      (i >= 0x20 && i < 0x7f ? fitting : others).push_back(uint32_t(i));
  fitting.insert(fitting.end(), others.begin(), others.end());
  if (fitting.empty())
    return false;
  unsigned options = unsigned(std::min<size_t>(fitting.size(), 8));
  // Spread over the whole list: neighbours tend to behave alike.
  return want(row.a, fitting[choose(options) * fitting.size() / options]);
}

Assignment Descent::assignment() const { return bytes; }

} // namespace sf
