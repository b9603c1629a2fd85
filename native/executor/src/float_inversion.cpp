#include "float_inversion.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sf {
namespace {

constexpr size_t FoundMax = 8;

/// One row as a function of one of its operands.
class Function {
public:
  Function(const sf_row &which, const FourValues &others, unsigned side, Number goal)
      : row(which), values(others), function(SF_FLOAT_FUNCTION(which.aux)), operand(side),
        wanted(goal), wantedValue(scalar(goal)) {}

  unsigned format() const { return SF_FLOAT_FROM(row.aux); }
  unsigned resultFormat() const { return SF_FLOAT_TO(row.aux); }
  long double other(unsigned side) const {
    unsigned first = firstPartOf(row, side);
    return valueOf({values[first], uint16_t(format() == SF_X87 ? values[first + 1] : 0)}, format());
  }
  long double target() const { return wantedValue; }

  Number at(Number x) const {
    FourValues changed = values;
    unsigned first = firstPartOf(row, operand);
    changed[first] = x.low;
    if (isNumberOperand(row, operand) && format() == SF_X87)
      changed[first + 1] = x.high;
    return numberGiven(row, changed);
  }
  bool fits(Number x) const {
    Number result = at(x);
    return result == wanted || (std::isnan(wantedValue) && std::isnan(scalar(result)));
  }
  /// Below, at or above the wanted value; 2 when there is no order.
  int side(Number x) const {
    long double value = scalar(at(x));
    return std::isnan(value) ? 2 : value < wantedValue ? -1 : value > wantedValue ? 1 : 0;
  }

  const sf_row &row;
  const FourValues &values;
  const unsigned function, operand;

private:
  /// A result as a value on a line.
  long double scalar(Number result) const {
    if (givesNumber(function))
      return valueOf(result, resultFormat());
    if (function == SF_FN_TO_UINT || function == SF_FN_TO_UINT_SAT || row.bits == 1)
      return static_cast<long double>(result.low);
    unsigned unused = 64u - row.bits;
    return static_cast<long double>(int64_t(result.low << unused) >> unused);
  }

  Number wanted;
  long double wantedValue;
};

/// What collects numbers that fit, each once.
class Found {
public:
  explicit Found(const Function &which) : function(which) {}
  bool full() const { return numbers.size() >= FoundMax; }
  void offer(Number x) {
    if (!full() && !std::ranges::count(numbers, x) && function.fits(x))
      numbers.push_back(x);
  }
  std::vector<Number> numbers;

private:
  const Function &function;
};

/// The exact inverse of the first arithmetic functions, up to rounding.
long double guessOf(const Function &f) {
  const long double w = f.target();
  auto x = [&](unsigned side) { return f.other(side); };
  const bool first = f.operand == 0;
  switch (f.function) {
  case SF_FN_ADD:
    return w - x(first ? 1 : 0);
  case SF_FN_SUB:
    return first ? w + x(1) : x(0) - w;
  case SF_FN_MUL:
    return w / x(first ? 1 : 0);
  case SF_FN_DIV:
    return first ? w * x(1) : x(0) / w;
  case SF_FN_FMA:
    return f.operand == 2 ? w - x(0) * x(1) : (w - x(2)) / x(first ? 1 : 0);
  case SF_FN_SQRT:
    return w * w;
  case SF_FN_CBRT:
    return w * w * w;
  case SF_FN_EXP:
    return std::log(w);
  case SF_FN_EXP2:
    return std::log2(w);
  case SF_FN_EXP10:
    return std::log10(w);
  case SF_FN_LOG:
    return std::exp(w);
  case SF_FN_LOG2:
    return std::exp2(w);
  case SF_FN_LOG10:
    return std::pow(10.0L, w);
  case SF_FN_POW:
    return first ? std::pow(w, 1 / x(1)) : std::log(w) / std::log(x(0));
  case SF_FN_HYPOT: {
    long double o = x(first ? 1 : 0);
    return std::sqrt(w * w - o * o);
  }
  case SF_FN_FDIM:
    return first ? w + x(1) : x(0) - w;
  case SF_FN_LDEXP:
    return std::ldexp(w, -int(uint32_t(f.values[firstPartOf(f.row, 1)])));
  case SF_FN_EXPONENT:
    return std::ldexp(0.5L, int(std::clamp(w, -20000.0L, 20000.0L)));
  case SF_FN_SIN:
    return std::asin(w);
  case SF_FN_COS:
    return std::acos(w);
  case SF_FN_TAN:
    return std::atan(w);
  default:
    return w; // roundings, conversions, minimum and maximum
  }
}

void offerAround(Found &found, Number centre, unsigned format, int reach) {
  __int128 position = positionOf(centre, format);
  for (int distance = 0; distance <= reach; ++distance) {
    found.offer(numberAt(position + distance, format));
    found.offer(numberAt(position - distance, format));
  }
}

/// Places on the whole line: the powers of two that a format has (some of
/// them), small numbers evenly, in ascending order.
std::vector<__int128> coarseLine(unsigned format) {
  std::vector<__int128> line;
  const __int128 top =
      positionOf(numberOf(std::numeric_limits<long double>::infinity(), format), format);
  for (int i = 0; i <= 96; ++i) {
    line.push_back(top * i / 96);
    line.push_back(-1 - top * i / 96);
  }
  for (int i = -64; i <= 64; ++i)
    line.push_back(positionOf(numberOf(i * 0.5L, format), format));
  std::ranges::sort(line);
  line.erase(std::unique(line.begin(), line.end()), line.end());
  return line;
}

/// Halve an interval on whose ends the function lies on different sides.
void narrow(Found &found, const Function &f, __int128 low, __int128 high) {
  const unsigned format = f.format();
  int sideLow = f.side(numberAt(low, format));
  while (high - low > 1) {
    __int128 middle = low + (high - low) / 2;
    int side = f.side(numberAt(middle, format));
    if (side == 0) {
      found.offer(numberAt(middle, format));
      return;
    }
    (side == sideLow ? low : high) = middle;
  }
}

void lookAlongLine(Found &found, const Function &f) {
  constexpr unsigned CrossingsMax = 6;
  const unsigned format = f.format();
  unsigned crossings = 0;
  __int128 before = 0;
  int sideBefore = 2;
  for (__int128 position : coarseLine(format)) {
    int side = f.side(numberAt(position, format));
    if (side == 0)
      found.offer(numberAt(position, format));
    if (side * sideBefore == -1) {
      narrow(found, f, before, position);
      if (++crossings == CrossingsMax)
        return;
    }
    before = position;
    sideBefore = side;
  }
}

/// Numbers at which comparisons and classes change their answer.
void offerBorders(Found &found, const Function &f) {
  const unsigned format = f.format();
  auto offer = [&](long double value) { found.offer(numberOf(value, format)); };
  const long double infinity = std::numeric_limits<long double>::infinity();
  if (f.function != SF_FN_CLASS) {
    const long double o = f.other(f.operand == 0 ? 1 : 0);
    const Number other = numberOf(o, format);
    found.offer(other);
    for (int step : {1, -1})
      found.offer(numberAt(positionOf(other, format) + step, format));
    // What a narrower format or an integer can hold is near, too.
    if (format == SF_DOUBLE || format == SF_X87)
      for (int step : {0, 1, -1}) {
        Number narrower = numberOf(o, SF_SINGLE);
        offer(valueOf(numberAt(positionOf(narrower, SF_SINGLE) + step, SF_SINGLE), SF_SINGLE));
      }
    for (long double value : {std::floor(o), std::ceil(o), o + 1, o - 1, o / 2, o * 2})
      offer(value);
  }
  for (long double value : {1.0L, -1.0L, 0.0L, -0.0L, infinity, -infinity,
                            std::numeric_limits<long double>::quiet_NaN()})
    offer(value);
  found.offer(numberAt(1, format)); // the smallest subnormal numbers
  found.offer(numberAt(-2, format));
  Number signalling = numberAt(positionOf(numberOf(infinity, format), format) + 1, format);
  found.offer(signalling);
}

/// Functions that have one value on whole intervals of numbers.
bool hasPlateaus(unsigned function) {
  return (function >= SF_FN_FLOOR && function <= SF_FN_ROUND) ||
         (function >= SF_FN_TO_SINT && function <= SF_FN_LROUND);
}

/// The last number in a direction up to which a function keeps its value.
__int128 endOfPlateau(const Function &f, __int128 position, int direction) {
  auto keeps = [&](__int128 at) { return f.side(numberAt(at, f.format())) == 0; };
  __int128 step = 1;
  const __int128 reach = __int128(1) << widthOfFormat(f.format());
  while (step < reach && keeps(position + direction * step)) {
    position += direction * step;
    step *= 2;
  }
  for (; step > 0; step /= 2)
    if (keeps(position + direction * step))
      position += direction * step;
  return position;
}

/// The ends and the middle are what other functions tell apart.
void offerPlateau(Found &found, const Function &f) {
  const unsigned format = f.format();
  const Number centre = numberOf(guessOf(f), format);
  found.offer(centre);
  if (found.numbers.empty())
    return;
  const __int128 position = positionOf(centre, format);
  const __int128 low = endOfPlateau(f, position, -1), high = endOfPlateau(f, position, 1);
  for (__int128 at : {low, high, low + (high - low) / 2})
    found.offer(numberAt(at, format));
}

void offerIntegers(Found &found, const Function &f) {
  long double w = f.target();
  if (f.function == SF_FN_LDEXP) {
    long double x = f.other(0);
    for (int step : {0, 1, -1})
      if (long double by = std::logb(w) - std::logb(x) + step; std::fabs(by) < 40000)
        found.offer({uint32_t(int(by)), 0});
    return;
  }
  bool isSigned = f.function == SF_FN_FROM_SINT;
  long double whole = std::nearbyint(w);
  if (isSigned ? whole >= -0x1p63L && whole < 0x1p63L : whole >= 0 && whole < 0x1p64L) {
    uint64_t near = isSigned ? uint64_t(int64_t(whole)) : uint64_t(whole);
    for (uint64_t step : {0, 1, -1})
      found.offer({near + step, 0});
  }
}

} // namespace

Number numberGiven(const sf_row &row, const FourValues &values) {
  if (!givesNumber(SF_FLOAT_FUNCTION(row.aux)) || SF_FLOAT_TO(row.aux) != SF_X87)
    return {applyFloat(row, values), 0};
  sf_row low = row, high = row;
  low.aux = uint16_t(row.aux & ~SF_FLOAT_AUX(0, 0, 0, 1));
  high.aux = uint16_t(row.aux | SF_FLOAT_AUX(0, 0, 0, 1));
  return {applyFloat(low, values), uint16_t(applyFloat(high, values))};
}

unsigned firstPartOf(const sf_row &row, unsigned side) {
  return SF_FLOAT_FROM(row.aux) == SF_X87 && !takesInteger(SF_FLOAT_FUNCTION(row.aux)) ? 2 * side
                                                                                       : side;
}

bool isNumberOperand(const sf_row &row, unsigned side) {
  const unsigned function = SF_FLOAT_FUNCTION(row.aux);
  return !takesInteger(function) && !(function == SF_FN_LDEXP && side == 1);
}

std::vector<Number> operandsFor(const sf_row &row, const FourValues &values, unsigned side,
                                Number wanted) {
  Function f(row, values, side, wanted);
  Found found(f);
  if (!isNumberOperand(row, side)) {
    offerIntegers(found, f);
    return std::move(found.numbers);
  }
  if (f.function >= SF_FN_EQ && f.function <= SF_FN_CLASS) {
    offerBorders(found, f);
    return std::move(found.numbers);
  }
  if (hasPlateaus(f.function))
    offerPlateau(found, f);
  offerAround(found, numberOf(guessOf(f), f.format()), f.format(), 3);
  if (std::isnan(f.target()))
    found.offer(numberOf(f.target(), f.format()));
  else if (found.numbers.empty())
    lookAlongLine(found, f);
  return std::move(found.numbers);
}

} // namespace sf
