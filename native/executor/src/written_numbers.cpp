#include "written_numbers.h"
#include "semantics.h"

#include <algorithm>

namespace sf {
namespace {

/// What an SF_OP_NUMBER row says of its text.
struct Place {
  explicit Place(const sf_row &row)
      : offset(uint32_t(row.k)), room(row.c & 0xff), size(row.c >> 8 & 0xff), lead(row.c >> 16),
        base(std::max(row.aux & 0x3fu, 2u)), isSigned(row.aux & SF_NUMBER_SIGNED),
        skipsSpace(row.aux & SF_NUMBER_SKIPS_SPACE), kind(sf_number_kind(row.aux >> 8)),
        bits(row.bits) {}

  uint32_t offset;
  unsigned room, size, lead, base;
  bool isSigned, skipsSpace;
  sf_number_kind kind;
  unsigned bits;

  char highest() const { return base <= 10 ? char('0' + base - 1) : char('a' + base - 11); }
  bool isDigit(uint8_t c) const {
    unsigned digit = c >= '0' && c <= '9'                     ? c - '0'
                     : (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? (c | 0x20) - 'a' + 10
                                                              : 99;
    return digit < base;
  }
};

std::string numeral(const Place &place, uint64_t value) {
  bool negative = place.isSigned && asSigned(value, place.bits) < 0;
  if (negative)
    value = (0 - value) & lowBits(place.bits);
  std::string digits;
  do {
    unsigned digit = unsigned(value % place.base);
    digits.insert(digits.begin(), char(digit < 10 ? '0' + digit : 'a' + digit - 10));
    value /= place.base;
  } while (value);
  if (negative)
    digits.insert(digits.begin(), '-');
  return digits;
}

/// Digits that are beyond 64 bits.
std::string tooLarge(const Place &place) {
  unsigned size = place.base < 4 ? 65 : place.base < 8 ? 33 : place.base < 10 ? 23 : 20;
  return std::string(size, place.highest());
}

/// Tell whether a value can stand for everything that is beyond the range.
bool isExtreme(const Place &place, uint64_t value) {
  const uint64_t most = lowBits(place.bits);
  return place.kind == SF_NUMBER_VALUE &&
         (value == most || value == most >> 1 || value == most / 2 + 1);
}

/// The text itself; empty if there is none.
std::string bareText(const Place &place, uint64_t wanted) {
  switch (place.kind) {
  case SF_NUMBER_VALUE:
    return numeral(place, wanted);
  case SF_NUMBER_IS_ONE:
    return wanted ? "1" : "~";
  case SF_NUMBER_NEGATIVE:
    return wanted ? "-1" : "1";
  case SF_NUMBER_OVER:
    return wanted ? tooLarge(place) : "1";
  case SF_NUMBER_END:
    if (wanted == 0)
      return "~";
    if (wanted <= place.lead || wanted - place.lead > 255)
      return "";
    return std::string(wanted - place.lead, '1');
  }
  return "";
}

/// The text for what is wanted of the number; empty if there is none. A new number
/// right behind digits is kept apart from them.
std::string textFor(const Trace &trace, const Place &place, uint64_t wanted) {
  std::string text = bareText(place, wanted);
  bool joins = place.skipsSpace && place.size == 0 && place.lead == 0 && place.offset > 0 &&
               place.isDigit(trace.input[place.offset - 1]);
  if (joins && !text.empty())
    text.insert(text.begin(), ' ');
  return text;
}

/// Fill up to the size that the text has now: zeros behind the sign, or spaces.
void pad(std::string &text, unsigned size, bool withZeros) {
  if (text.size() >= size)
    return;
  size_t at = withZeros && text[0] == '-' ? 1 : 0;
  text.insert(at, size - text.size(), withZeros ? '0' : ' ');
}

} // namespace

std::optional<Assignment> numberBytes(const Trace &trace, const sf_row &row, uint64_t wanted,
                                      unsigned way) {
  Place place(row);
  std::string text = textFor(trace, place, wanted);
  if (text.empty() || place.offset >= trace.length)
    return std::nullopt;
  place.room = std::min(place.room, trace.length - place.offset);
  const bool isValue = place.kind == SF_NUMBER_VALUE;
  if (way != 1 && isValue)
    pad(text, place.size, way == 0);
  if (way == 2 && isExtreme(place, wanted))
    text = tooLarge(place);
  if (way == 2 && isExtreme(place, wanted) && place.isSigned && asSigned(wanted, place.bits) < 0)
    text.insert(text.begin(), '-');
  // As many digits as there is room for may do.
  if (place.kind == SF_NUMBER_OVER || (way == 2 && isExtreme(place, wanted)))
    text.resize(std::min<size_t>(text.size(), place.room));
  if (text.size() > place.room)
    return std::nullopt;
  // What follows must not go on with the number.
  bool goesOn = text.size() < place.room && place.isDigit(trace.input[place.offset + text.size()]);
  if (goesOn && (isValue || place.kind == SF_NUMBER_END))
    text += way == 2 ? '\n' : ' ';
  Assignment bytes;
  for (size_t i = 0; i < text.size(); ++i)
    bytes.push_back({uint32_t(place.offset + i), uint8_t(text[i])});
  return bytes;
}

std::optional<std::vector<uint8_t>> withNumber(const Trace &trace, const sf_row &row,
                                               uint64_t wanted) {
  const Place place(row);
  std::string text = textFor(trace, place, wanted);
  if (text.empty())
    return std::nullopt;
  if (place.offset > trace.length)
    return std::nullopt;
  std::vector<uint8_t> bytes(trace.input.begin(), trace.input.begin() + place.offset);
  bytes.insert(bytes.end(), text.begin(), text.end());
  const uint32_t behind = std::min(place.offset + place.size, trace.length); // a length follows
  bytes.insert(bytes.end(), trace.input.begin() + behind, trace.input.begin() + trace.length);
  return bytes;
}

std::optional<uint64_t> numberWithText(const sf_row &row, unsigned bits, uint64_t seed,
                                       const std::map<unsigned, uint8_t> &characters) {
  const sf_printed now = sf_printed_number(seed, bits, row.c, row.k);
  std::string text(now.at, now.size);
  for (auto [index, character] : characters) {
    if (index >= text.size())
      text.resize(index + 1, '0');
    text[index] = char(character);
  }
  text.resize(std::min(text.size(), text.find('\0')));
  const unsigned base = std::max(row.c & SF_PRINT_BASE, 2u);
  size_t at = text.find_first_not_of(' ');
  if (at == std::string::npos)
    return std::nullopt;
  bool negative = text[at] == '-';
  if (negative || text[at] == '+')
    ++at;
  if (base == 16 && text.size() > at + 1 && (text[at + 1] | 0x20) == 'x')
    at += 2;
  uint64_t value = 0;
  for (; at < text.size(); ++at) {
    unsigned c = uint8_t(text[at]);
    unsigned digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (digit >= base)
      break;
    value = value * base + digit;
  }
  value = (negative ? 0 - value : value) & lowBits(bits);
  for (auto [index, character] : characters)
    if (sf_printed_number_at(value, bits, row.c, row.k, index) != character)
      return std::nullopt;
  return value;
}

std::optional<uint64_t> numberWithLength(const sf_row &row, unsigned bits, uint64_t size,
                                         bool negative) {
  const unsigned base = std::max(row.c & SF_PRINT_BASE, 2u);
  uint64_t magnitude = 0;
  for (unsigned digits = 1; digits <= 64; ++digits) {
    uint64_t value = (negative ? 0 - magnitude : magnitude) & lowBits(bits);
    if (sf_printed_number(value, bits, row.c, row.k).size == size)
      return value;
    if (magnitude > lowBits(bits) / base)
      break;
    magnitude = magnitude ? magnitude * base : base;
    if (digits == 1)
      magnitude = base;
  }
  return std::nullopt;
}

} // namespace sf
