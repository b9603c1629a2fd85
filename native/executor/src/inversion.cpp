#include "inversion.h"
#include "float_inversion.h"
#include "number_text.h"
#include "semantics.h"
#include "written_numbers.h"

#include <algorithm>
#include <bitset>
#include <map>

namespace sf {
namespace {

/// One attempt: wanted values on their way from the goal to the input.
class Descent {
public:
  /// Starts at the recorded input, or at what `changed` assumes.
  Descent(const Trace &recorded, unsigned number, Evaluator *changed = nullptr,
          Assignment pinned = {})
      : trace(recorded), choices(number), from(changed), bytes(std::move(pinned)),
        settled(bytes.size(), 0xff) {}

  /// Answers false when this way is barred.
  bool run(const Condition &goal);
  /// Tell whether higher numbers would repeat choices already made.
  bool exhausted() const { return choices > 0; }
  Assignment assignment() const;
  /// With this, numbers in the input's text are only noted with their values.
  std::vector<Condition> *numbers = nullptr;

private:
  static constexpr unsigned StepsMax = 4096;

  /// A number of 80 bits whose parts are two rows of one function.
  struct Twins {
    uint32_t low, high;
    Number value;
  };

  bool push(const Condition &wanted);
  bool pushFour(const sf_row &row, Number wanted);
  bool pushText(const sf_row &row, const FourValues &values, Number wanted);
  bool wantNumber(uint32_t low, uint32_t high, Number value);
  uint64_t now(uint32_t label) { return from ? from->value(label) : trace.seed[label]; }
  bool pushBinary(const sf_row &row, uint64_t wanted);
  bool pushArithmetic(const sf_row &row, uint32_t side, uint64_t other, bool otherIsLeft,
                      uint64_t wanted);
  bool pushComparison(const sf_row &row, uint32_t side, uint64_t other, bool otherIsLeft,
                      uint64_t wanted);
  bool pushTable(const sf_row &row, uint64_t wanted);
  bool pushDivision(const sf_row &row, uint64_t wanted);
  bool pushNumber(uint32_t label, uint64_t wanted);
  bool pushCharacter(uint32_t label, uint64_t wanted);
  bool pushPrinted();
  bool setByte(ByteChange change, uint8_t bits = 0xff);
  bool setInput(const sf_row &row, uint64_t wanted, uint64_t bits = ~uint64_t(0));
  bool want(uint32_t label, uint64_t value) {
    if (value > lowBits(trace.width(label)))
      return false;
    work.push_back({label, value});
    return true;
  }
  unsigned choose(unsigned options) {
    unsigned chosen = choices % options;
    choices /= options;
    return chosen;
  }

  const Trace &trace;
  unsigned choices;
  Evaluator *from;
  std::vector<Condition> work;
  std::vector<Twins> twins;
  /// Characters wanted of printed numbers, by the first row seen of each text.
  std::map<uint32_t, std::map<unsigned, uint8_t>> printed;
  Assignment bytes;
  std::vector<uint8_t> settled; // which bits of each of them
};

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

/// Want both parts of a number of 80 bits. Two rows of one function are pushed
/// together: neither part can be inverted alone.
bool Descent::wantNumber(uint32_t low, uint32_t high, Number value) {
  const sf_row &x = trace.rows[low], &y = trace.rows[high];
  bool together = hasFourOperands(x.op) && x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c &&
                  x.k == y.k && (x.aux ^ y.aux) == SF_FLOAT_AUX(0, 0, 0, 1);
  if (!together)
    return want(low, value.low) && want(high, value.high);
  twins.push_back({low, high, value});
  return true;
}

/// Let one operand of a floating-point operation change.
bool Descent::pushFour(const sf_row &row, Number wanted) {
  FourValues values{};
  for (unsigned i = 0; i < 4; ++i)
    values[i] = operandOf(row, i) ? now(operandOf(row, i)) : 0;
  if (row.op == SF_OP_TEXT)
    return pushText(row, values, wanted);
  std::vector<unsigned> sides;
  for (unsigned side = 0; side < floatArity(SF_FLOAT_FUNCTION(row.aux)); ++side) {
    unsigned first = firstPartOf(row, side);
    bool depends = trace.bytes[operandOf(row, first)] != 0;
    if (isNumberOperand(row, side) && SF_FLOAT_FROM(row.aux) == SF_X87)
      depends |= trace.bytes[operandOf(row, first + 1)] != 0;
    if (depends)
      sides.push_back(side);
  }
  if (sides.empty())
    return false;
  unsigned side = sides[choose(unsigned(sides.size()))];
  std::vector<Number> fitting = operandsFor(row, values, side, wanted);
  if (fitting.empty())
    return false;
  Number chosen = fitting[choose(unsigned(fitting.size()))];
  unsigned first = firstPartOf(row, side);
  if (isNumberOperand(row, side) && SF_FLOAT_FROM(row.aux) == SF_X87)
    return wantNumber(operandOf(row, first), operandOf(row, first + 1), chosen);
  return want(operandOf(row, first), chosen.low);
}

/// Which bytes of a part of a text can change: those not joined from constants.
std::bitset<8> freeBytes(const Trace &trace, uint32_t label) {
  std::bitset<8> free;
  struct Part {
    uint32_t label;
    unsigned low; // in bytes
  };
  std::vector<Part> work = {{label, 0}};
  while (!work.empty()) {
    auto [at, low] = work.back();
    work.pop_back();
    const sf_row &row = trace.rows[at];
    if (trace.bytes[at] == 0)
      continue;
    if (row.op == SF_OP_CONCAT && row.aux % 8 == 0) {
      work.push_back({row.b, low});
      work.push_back({row.a, low + row.aux / 8u});
    } else if (row.op == SF_OP_ZEXT) {
      work.push_back({row.a, low});
    } else {
      for (unsigned byte = low; byte < 8 && byte < low + (row.bits + 7) / 8u; ++byte)
        free.set(byte);
    }
  }
  return free;
}

bool Descent::pushText(const sf_row &row, const FourValues &values, Number wanted) {
  std::vector<std::string> fitting =
      textsFor(row, textOf(row, values), freeCharacters(trace, row), wanted);
  if (fitting.empty())
    return false;
  const std::string &chosen = fitting[choose(unsigned(fitting.size()))];
  for (unsigned word = 0; word * 8 < chosen.size(); ++word) {
    uint64_t bits = 0;
    for (unsigned byte = 0; byte < 8; ++byte)
      bits |= uint64_t(uint8_t(chosen[8 * word + byte])) << (8 * byte);
    if (bits != values[word] && !want(operandOf(row, word), bits))
      return false;
  }
  return true;
}

/// Let the dividend of two words change: the other one of quotient and remainder stays.
bool Descent::pushDivision(const sf_row &row, uint64_t wanted) {
  using Double = unsigned __int128;
  const Double by = now(row.c), whole = Double(now(row.a)) << row.bits | now(row.b);
  if (by == 0 || (row.op == SF_OP_UREMW && wanted >= by))
    return false;
  const Double changed =
      row.op == SF_OP_UDIVW ? wanted * by + whole % by : whole / by * by + wanted;
  return want(row.a, uint64_t(changed >> row.bits) & lowBits(row.bits)) &&
         want(row.b, uint64_t(changed) & lowBits(row.bits));
}

bool Descent::pushNumber(uint32_t label, uint64_t wanted) {
  if (numbers) {
    numbers->push_back({label, wanted});
    return true;
  }
  const sf_row &row = trace.rows[label];
  const unsigned way = row.aux >> 8 == SF_NUMBER_VALUE ? choose(NumberWays) : 0;
  auto text = numberBytes(trace, row, wanted, way);
  return text && std::ranges::all_of(*text, [&](ByteChange change) { return setByte(change); });
}

/// Characters of one text are collected: together they say which number it is.
bool Descent::pushCharacter(uint32_t label, uint64_t wanted) {
  const sf_row &row = trace.rows[label];
  auto same = [&](const auto &entry) {
    const sf_row &other = trace.rows[entry.first];
    return other.a == row.a && other.c == row.c && other.k == row.k;
  };
  auto at = std::ranges::find_if(printed, same);
  auto &characters = at != printed.end() ? at->second : printed[label];
  return characters.try_emplace(row.aux, uint8_t(wanted)).first->second == wanted;
}

bool Descent::pushPrinted() {
  auto [label, characters] = *printed.begin();
  printed.erase(printed.begin());
  const sf_row &row = trace.rows[label];
  auto number = numberWithText(row, trace.width(row.a), now(row.a), characters);
  return number && want(row.a, *number);
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

/// Let one operand change and keep the other as it is on the input.
bool Descent::pushBinary(const sf_row &row, uint64_t wanted) {
  bool canA = row.a && trace.bytes[row.a] != 0;
  bool canB = row.b && trace.bytes[row.b] != 0;
  // Both of two conditions, or neither: one of them alone cannot do it.
  if (canA && canB && row.bits == 1 &&
      (row.op == SF_OP_AND ? wanted == 1 : row.op == SF_OP_OR && !wanted))
    return want(row.a, wanted) && want(row.b, wanted);
  bool changeB = canA && canB ? choose(2) == 1 : canB;
  uint32_t side = changeB ? row.b : row.a;
  uint32_t rest = changeB ? row.a : row.b;
  uint64_t other = rest ? now(rest) : row.k;
  return isComparison(row.op) ? pushComparison(row, side, other, changeB, wanted)
                              : pushArithmetic(row, side, other, changeB, wanted);
}

bool Descent::pushArithmetic(const sf_row &row, uint32_t side, uint64_t other, bool otherIsLeft,
                             uint64_t wanted) {
  const unsigned bits = row.bits;
  const uint64_t mask = lowBits(bits), current = now(side);
  switch (row.op) {
  case SF_OP_ADD:
    return want(side, (wanted - other) & mask);
  case SF_OP_SUB:
    return want(side, (otherIsLeft ? other - wanted : wanted + other) & mask);
  case SF_OP_XOR:
    return want(side, wanted ^ other);
  case SF_OP_AND:
    return (wanted & ~other) == 0 && want(side, (current & ~other) | wanted);
  case SF_OP_OR:
    return (other & ~wanted) == 0 && want(side, (current & other) | (wanted & ~other));
  case SF_OP_MUL: {
    if (other == 0)
      return wanted == 0;
    unsigned zeros = unsigned(std::countr_zero(other));
    if (wanted & lowBits(zeros))
      return false;
    return want(side, (wanted >> zeros) * inverseOf(other >> zeros) & (mask >> zeros));
  }
  case SF_OP_UDIV:
    if (otherIsLeft)
      return wanted != 0 && want(side, other / wanted);
    return static_cast<unsigned __int128>(wanted) * other <= mask &&
           want(side, wanted * other + (choose(2) ? 0 : current % std::max<uint64_t>(other, 1)));
  case SF_OP_SDIV:
    return !otherIsLeft && want(side, wanted * other & mask);
  case SF_OP_UREM:
    return !otherIsLeft && other != 0 && wanted < other &&
           want(side, (current - current % other + wanted) & mask);
  case SF_OP_SREM:
    return !otherIsLeft && want(side, wanted);
  case SF_OP_SHL:
    if (otherIsLeft || other >= bits || (wanted & lowBits(unsigned(other))))
      return false;
    return want(side, (current & ~(mask >> other)) | wanted >> other);
  case SF_OP_LSHR:
    if (otherIsLeft || other >= bits || wanted > mask >> other)
      return false;
    return want(side, (current & lowBits(unsigned(other))) | wanted << other);
  case SF_OP_ASHR:
    if (otherIsLeft || other >= bits)
      return false;
    return want(side, ((current & lowBits(unsigned(other))) | wanted << other) & mask);
  }
  return false; // overflow flags
}

bool Descent::pushComparison(const sf_row &row, uint32_t side, uint64_t other, bool otherIsLeft,
                             uint64_t wanted) {
  const uint64_t mask = lowBits(row.aux);
  if (row.op == SF_OP_EQ || row.op == SF_OP_NE) {
    if ((row.op == SF_OP_EQ) == (wanted == 1))
      return want(side, other);
    uint64_t different[] = {other + 1, other - 1, ~other, other ^ 0x20};
    return want(side, different[choose(4)] & mask);
  }
  // Values at and around the border, and the extremes.
  bool isSigned = row.op == SF_OP_SLT || row.op == SF_OP_SLE;
  uint64_t lowest = isSigned ? uint64_t(1) << (row.aux - 1) : 0;
  uint64_t highest = isSigned ? lowest - 1 : mask;
  bool below = (wanted == 1) != otherIsLeft; // side on the lower end of the scale
  uint64_t border[] = {other, below ? other - 1 : other + 1, below ? lowest : highest,
                       below ? other - 2 : other + 2};
  return want(side, border[choose(4)] & mask);
}

Assignment Descent::assignment() const { return bytes; }

} // namespace

std::vector<bool> freeCharacters(const Trace &trace, const sf_row &row) {
  std::vector<bool> free;
  for (unsigned word = 0; word < 4 && operandOf(row, word); ++word) {
    const std::bitset<8> changeable = freeBytes(trace, operandOf(row, word));
    for (size_t byte = 0; byte < 8; ++byte)
      free.push_back(changeable[byte]);
  }
  return free;
}

std::optional<Assignment> Inversion::attempt(const Trace &trace, Evaluator &from,
                                             const Condition &goal, const Assignment &pinned,
                                             unsigned number, bool &last) {
  Descent descent(trace, number, &from, pinned);
  bool reached = descent.run(goal);
  last = descent.exhausted();
  if (!reached || last)
    return std::nullopt;
  return descent.assignment();
}

Answer Inversion::solve(const Query &query, Workbench &bench) {
  for (unsigned number = 0; number < AttemptsMax; ++number) {
    Descent descent(bench.trace, number);
    if (!descent.run(query.goal))
      continue;
    if (descent.exhausted())
      break;
    Assignment assignment = descent.assignment();
    if (bench.accepts(query, assignment))
      return {Verdict::Sat, std::move(assignment), false};
  }
  return {};
}

namespace {

/// Call `visit` with each written number, and its value, that may meet the goal.
template <typename F> void forEachNumber(const Condition &goal, const Trace &trace, F &&visit) {
  constexpr unsigned WaysMax = 4;
  for (unsigned number = 0; number < WaysMax; ++number) {
    std::vector<Condition> numbers;
    Descent descent(trace, number);
    descent.numbers = &numbers;
    if (!descent.run(goal))
      continue;
    if (descent.exhausted())
      break;
    for (const Condition &each : numbers)
      visit(trace.rows[each.label], each.value);
  }
}

} // namespace

std::vector<std::vector<uint8_t>> withNumbersReplaced(const Condition &goal, const Trace &trace) {
  std::vector<std::vector<uint8_t>> inputs;
  forEachNumber(goal, trace, [&](const sf_row &row, uint64_t value) {
    if (auto input = withNumber(trace, row, value))
      inputs.push_back(std::move(*input));
  });
  return inputs;
}

std::vector<uint8_t> withRoomForNumber(const Condition &goal, const Trace &trace) {
  std::vector<uint8_t> longer;
  forEachNumber(goal, trace, [&](const sf_row &row, uint64_t value) {
    // Another end of the number would be a longer text each time.
    if (!longer.empty() || row.aux >> 8 != SF_NUMBER_VALUE)
      return;
    auto input = withNumber(trace, row, value);
    if (input && input->size() > trace.length)
      longer = std::move(*input);
  });
  return longer;
}

} // namespace sf
