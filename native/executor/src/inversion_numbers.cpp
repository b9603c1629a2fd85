// Inversion of floating-point operations, and of numbers that are written as texts.
#include "float_inversion.h"
#include "inversion.h"
#include "inversion_descent.h"
#include "number_text.h"
#include "written_numbers.h"

#include <algorithm>
#include <bitset>

namespace sf {

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

namespace {

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

} // namespace sf
