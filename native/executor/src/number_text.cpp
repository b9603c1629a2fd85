#include "number_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sf {
namespace {

constexpr size_t TextsMax = 8;

FourValues valuesOf(const std::string &text) {
  FourValues values{};
  for (size_t i = 0; i < text.size() && i < SF_TEXT_MAX; ++i)
    values[i / 8] |= uint64_t(uint8_t(text[i])) << (8 * (i % 8));
  return values;
}

/// Texts that were found to fit.
class Fitting {
public:
  Fitting(const sf_row &which, const std::string &now, const std::vector<bool> &changeable,
          Number goal)
      : Fitting(which, now, changeable, goal, goal) {}
  Fitting(const sf_row &which, const std::string &now, const std::vector<bool> &changeable,
          Number lower, Number upper)
      : row(which), present(now), free(changeable), wanted(lower), most(upper) {
    while (room < free.size() && (free[room] || present[room] != 0))
      ++room;
  }

  /// Characters that a text may have: behind them the text has ended.
  size_t room = 0;
  bool full() const { return stopped || texts.size() >= textsMax; }
  size_t textsMax = TextsMax;
  /// Called with each text, until it says stop.
  std::function<bool(const std::string &)> visit;

  /// Offer a text, followed by what is there now or by something that ends it.
  void offer(const std::string &start) {
    if (start.size() > room || full())
      return;
    std::string whole = start + present.substr(start.size());
    consider(whole);
    for (char end : {'\0', ' ', ',', '\n', 'x'}) {
      if (start.size() < room)
        whole[start.size()] = end;
      consider(whole);
    }
  }

  std::vector<std::string> texts;

  /// Tell whether a text alone reads as what is wanted, also one that is longer
  /// than those of the row.
  bool reads(const std::string &text) const {
    FourValues values = valuesOf(text);
    sf_row low = row;
    if (text.size() > present.size())
      low.k = low.a = low.b = low.c = 1; // any operands: their values are here
    if (isLength() || SF_FLOAT_TO(row.aux) != SF_X87)
      return same({applyFloat(low, values), 0});
    sf_row high = low;
    low.aux = uint16_t(row.aux & ~SF_FLOAT_AUX(0, 0, 0, 1));
    high.aux = uint16_t(row.aux | SF_FLOAT_AUX(0, 0, 0, 1));
    return same({applyFloat(low, values), uint16_t(applyFloat(high, values))});
  }

private:
  void consider(const std::string &text) {
    for (size_t i = 0; i < text.size(); ++i)
      if (text[i] != present[i] && !free[i])
        return;
    if (full() || std::ranges::count(texts, text) || !reads(text))
      return;
    texts.push_back(text);
    stopped = visit && visit(text);
  }
  bool isLength() const { return SF_TEXT_IS_LENGTH(SF_FLOAT_FUNCTION(row.aux)); }
  bool same(Number number) const {
    if (isLength())
      return number == wanted;
    const unsigned format = SF_FLOAT_TO(row.aux);
    if (std::isnan(valueOf(number, format)))
      return std::isnan(valueOf(wanted, format));
    const __int128 position = positionOf(number, format);
    return positionOf(wanted, format) <= position && position <= positionOf(most, format);
  }

  const sf_row &row;
  const std::string &present;
  const std::vector<bool> &free;
  Number wanted, most;
  bool stopped = false;
};

std::string printed(const char *format, int digits, long double value) {
  char buffer[128];
  int length = std::snprintf(buffer, sizeof buffer, format, digits, value);
  return length > 0 && size_t(length) < sizeof buffer ? buffer : "";
}

/// 1.250e+07 -> digits "125" and exponent 5: the value is 125e5.
struct Decimal {
  std::string sign, digits;
  int exponent = 0;
};

Decimal decimalOf(const std::string &scientific) {
  Decimal decimal;
  size_t e = scientific.find('e'), at = 0;
  if (e == std::string::npos)
    return decimal;
  if (scientific[0] == '-') {
    decimal.sign = "-";
    at = 1;
  }
  int behindPoint = 0;
  bool point = false;
  for (; at < e; ++at) {
    if (scientific[at] == '.') {
      point = true;
    } else {
      decimal.digits += scientific[at];
      behindPoint += point;
    }
  }
  decimal.exponent = std::atoi(scientific.c_str() + e + 1) - behindPoint;
  while (decimal.digits.size() > 1 && decimal.digits.back() == '0') {
    decimal.digits.pop_back();
    ++decimal.exponent;
  }
  return decimal;
}

/// Ways to write a decimal number, as people do and shorter.
std::vector<std::string> spellings(const Decimal &decimal, size_t room) {
  std::vector<std::string> all;
  const std::string &digits = decimal.digits;
  const int point = int(digits.size()) + decimal.exponent; // digits before the point
  if (decimal.exponent >= 0 && decimal.exponent <= int(room))
    all.push_back(digits + std::string(size_t(decimal.exponent), '0'));
  else if (point > 0 && decimal.exponent < 0)
    all.push_back(digits.substr(0, size_t(point)) + "." + digits.substr(size_t(point)));
  else if (point <= 0 && -point <= int(room))
    for (const char *zero : {"0.", "."})
      all.push_back(zero + std::string(size_t(-point), '0') + digits);
  auto exponent = [](int value) { return "e" + std::to_string(value); };
  all.push_back(digits + exponent(decimal.exponent));
  for (size_t before = 1; before < digits.size(); ++before)
    all.push_back(digits.substr(0, before) + "." + digits.substr(before) +
                  exponent(decimal.exponent + int(digits.size() - before)));
  return all;
}

/// The same number in more characters.
std::vector<std::string> padded(const std::string &sign, const std::string &number, size_t room) {
  std::vector<std::string> all = {sign + number};
  if (sign.size() + number.size() >= room)
    return all;
  const size_t rest = room - sign.size() - number.size();
  bool hasPoint = number.find('.') != std::string::npos,
       hasE = number.find('e') != std::string::npos;
  if (hasPoint && !hasE)
    all.push_back(sign + number + std::string(rest, '0'));
  if (!hasPoint && !hasE)
    all.push_back(sign + number + "." + std::string(rest - 1, '0'));
  all.push_back(sign + std::string(rest, '0') + number);
  all.push_back(std::string(rest, ' ') + sign + number);
  if (sign.empty())
    all.push_back(std::string(rest - 1, ' ') + "+" + number);
  return all;
}

void offerDecimals(Fitting &fitting, long double value) {
  std::vector<std::pair<std::string, std::string>> unpadded; // sign, number
  std::string last;
  for (int digits = 0; digits < 21; ++digits) {
    Decimal decimal = decimalOf(printed("%.*Le", digits, value));
    if (decimal.digits == last)
      continue; // one more zero
    last = decimal.digits;
    std::string shortest = decimal.sign + last + "e" + std::to_string(decimal.exponent);
    if (shortest.size() <= SF_TEXT_MAX && !fitting.reads(shortest))
      continue;
    for (const std::string &number : spellings(decimal, fitting.room))
      unpadded.emplace_back(decimal.sign, number);
  }
  // What fills the room exactly leaves nothing behind the number.
  for (const auto &[sign, number] : unpadded)
    if (sign.size() + number.size() == fitting.room)
      fitting.offer(sign + number);
  for (const auto &[sign, number] : unpadded) {
    for (const std::string &text : padded(sign, number, fitting.room))
      fitting.offer(text);
    if (fitting.full())
      return;
  }
}

void offerNumber(Fitting &fitting, Number wanted, unsigned format) {
  long double value = valueOf(wanted, format);
  const char *sign = std::signbit(value) ? "-" : "";
  auto offer = [&](const char *text) { fitting.offer(std::string(sign) + text); };
  if (std::isnan(value)) {
    offer("nan");
    offer("NAN");
  } else if (std::isinf(value)) {
    for (const char *text : {"inf", "INF", "9e9999", "9e999"})
      offer(text);
  } else {
    offerDecimals(fitting, value);
    fitting.offer(printed("%.*La", 0, value));
  }
}

void offerLength(Fitting &fitting, size_t length) {
  if (length == 0) {
    for (const char *text : {"", "x", "-", "."})
      fitting.offer(text);
    return;
  }
  fitting.offer(std::string(length, '1'));
  fitting.offer(std::string(length - 1, ' ') + "1");
}

} // namespace

std::vector<std::string> textsFor(const sf_row &row, const std::string &present,
                                  const std::vector<bool> &free, Number wanted) {
  Fitting fitting(row, present, free, wanted);
  if (SF_TEXT_IS_LENGTH(SF_FLOAT_FUNCTION(row.aux)))
    offerLength(fitting, std::min<uint64_t>(wanted.low, SF_TEXT_MAX + 1));
  else
    offerNumber(fitting, wanted, SF_FLOAT_TO(row.aux));
  return std::move(fitting.texts);
}

void visitTextsWithin(const sf_row &row, const std::string &present, const std::vector<bool> &free,
                      Number least, Number most,
                      const std::function<bool(const std::string &)> &visit) {
  constexpr size_t VisitedMax = 64;
  const unsigned format = SF_FLOAT_TO(row.aux);
  const long double from = valueOf(least, format), to = valueOf(most, format);
  Fitting fitting(row, present, free, least, most);
  fitting.textsMax = VisitedMax;
  fitting.visit = visit;
  offerDecimals(fitting, from + (to - from) / 2);
  if (!fitting.full())
    offerNumber(fitting, least, format);
  if (!fitting.full())
    offerNumber(fitting, most, format);
}

} // namespace sf
