#include "float_semantics.h"
#include "float_carriers.h"
#include "symfleet/scanned_number.h"
#include "symfleet/streamed_number.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <math.h>

namespace sf {
namespace {

Number numberFrom(const FourValues &values, unsigned format, unsigned index) {
  if (format == SF_X87)
    return {values[2 * index], uint16_t(values[2 * index + 1])};
  return {values[index], 0};
}

uint64_t partOf(Number number, uint16_t aux) {
  return SF_FLOAT_HIGH(aux) ? number.high : number.low;
}

// ---- Functions

template <typename T> T smaller(T x, T y) { return std::isnan(x) ? y : y < x ? y : x; }
template <typename T> T larger(T x, T y) { return std::isnan(x) ? y : y > x ? y : x; }

/// Minimum (sign 1) and maximum (sign -1) of IEEE 754-2019.
template <typename T> T extreme(T x, T y, bool least) {
  if (std::isnan(x) || std::isnan(y))
    return x + y;
  if (x == y)
    return std::signbit(x) == least ? x : y;
  return (x < y) == least ? x : y;
}

float tenTo(float x) { return ::exp10f(x); }
double tenTo(double x) { return ::exp10(x); }
long double tenTo(long double x) { return ::exp10l(x); }

template <typename T> T ofOne(unsigned function, T x) {
  int ignored = 0;
  T whole = 0;
  switch (function) {
  case SF_FN_SQRT:
    return std::sqrt(x);
  case SF_FN_FLOOR:
    return std::floor(x);
  case SF_FN_CEIL:
    return std::ceil(x);
  case SF_FN_TRUNC:
    return std::trunc(x);
  case SF_FN_RINT:
    return std::rint(x);
  case SF_FN_ROUND:
    return std::round(x);
  case SF_FN_SIN:
    return std::sin(x);
  case SF_FN_COS:
    return std::cos(x);
  case SF_FN_TAN:
    return std::tan(x);
  case SF_FN_ASIN:
    return std::asin(x);
  case SF_FN_ACOS:
    return std::acos(x);
  case SF_FN_ATAN:
    return std::atan(x);
  case SF_FN_SINH:
    return std::sinh(x);
  case SF_FN_COSH:
    return std::cosh(x);
  case SF_FN_TANH:
    return std::tanh(x);
  case SF_FN_ASINH:
    return std::asinh(x);
  case SF_FN_ACOSH:
    return std::acosh(x);
  case SF_FN_ATANH:
    return std::atanh(x);
  case SF_FN_EXP:
    return std::exp(x);
  case SF_FN_EXP2:
    return std::exp2(x);
  case SF_FN_EXP10:
    return tenTo(x);
  case SF_FN_EXPM1:
    return std::expm1(x);
  case SF_FN_LOG:
    return std::log(x);
  case SF_FN_LOG2:
    return std::log2(x);
  case SF_FN_LOG10:
    return std::log10(x);
  case SF_FN_LOG1P:
    return std::log1p(x);
  case SF_FN_LOGB:
    return std::logb(x);
  case SF_FN_CBRT:
    return std::cbrt(x);
  case SF_FN_ERF:
    return std::erf(x);
  case SF_FN_ERFC:
    return std::erfc(x);
  case SF_FN_TGAMMA:
    return std::tgamma(x);
  case SF_FN_LGAMMA:
    return std::lgamma(x);
  case SF_FN_FRACTION:
    return std::modf(x, &whole);
  default: // SF_FN_FREXP
    return std::frexp(x, &ignored);
  }
}

template <typename T> T ofTwo(unsigned function, T x, T y) {
  switch (function) {
  case SF_FN_ADD:
    return x + y;
  case SF_FN_SUB:
    return x - y;
  case SF_FN_MUL:
    return x * y;
  case SF_FN_DIV:
    return x / y;
  case SF_FN_REM:
    return std::fmod(x, y);
  case SF_FN_MIN:
    return smaller(x, y);
  case SF_FN_MAX:
    return larger(x, y);
  case SF_FN_MINIMUM:
    return extreme(x, y, true);
  case SF_FN_MAXIMUM:
    return extreme(x, y, false);
  case SF_FN_POW:
    return std::pow(x, y);
  case SF_FN_ATAN2:
    return std::atan2(x, y);
  case SF_FN_HYPOT:
    return std::hypot(x, y);
  case SF_FN_FDIM:
    return std::fdim(x, y);
  case SF_FN_NEXTAFTER:
    return std::nextafter(x, y);
  default: // SF_FN_REMAINDER
    return std::remainder(x, y);
  }
}

template <typename T> bool compared(unsigned function, T x, T y) {
  switch (function) {
  case SF_FN_EQ:
    return x == y;
  case SF_FN_LT:
    return x < y;
  case SF_FN_LE:
    return x <= y;
  case SF_FN_NE:
    return x < y || x > y;
  default: // SF_FN_UNO
    return std::isnan(x) || std::isnan(y);
  }
}

/// LLVM's FPClassTest: one bit for each class, from signalling NaNs upwards.
template <typename T> unsigned classOf(Number bits) {
  auto x = load<T>(bits);
  constexpr unsigned format = std::is_same_v<T, Half>     ? SF_HALF
                              : std::is_same_v<T, float>  ? SF_SINGLE
                              : std::is_same_v<T, double> ? SF_DOUBLE
                                                          : SF_X87;
  if (std::isnan(x)) {
    constexpr unsigned quiet = format == SF_HALF     ? 9
                               : format == SF_SINGLE ? 22
                               : format == SF_DOUBLE ? 51
                                                     : 62;
    return bits.low >> quiet & 1 ? 2 : 1;
  }
  bool negative = std::signbit(x);
  if (std::isinf(x))
    return negative ? 1u << 2 : 1u << 9;
  if (x == 0)
    return negative ? 1u << 5 : 1u << 6;
  // Half's subnormal numbers are normal in single.
  bool normal = format == SF_HALF ? (bits.low & 0x7c00) != 0 : std::isnormal(x);
  if (normal)
    return negative ? 1u << 3 : 1u << 8;
  return negative ? 1u << 4 : 1u << 7;
}

// ---- Conversions to integers

/// What x86 gives for a number that does not fit: only the highest bit.
template <typename T> uint64_t hardwareInteger(T x, unsigned bits) {
  const long double bound = std::ldexp(1.0L, int(bits) - 1);
  long double exact = x;
  if (!(exact >= -bound && exact < bound))
    return uint64_t(1) << (bits - 1);
  return uint64_t(int64_t(exact));
}

template <typename T> uint64_t toSigned(T x, unsigned bits) {
  T whole = std::trunc(x);
  return hardwareInteger(whole, bits <= 32 ? 32 : 64);
}

/// As compiled code does it: narrow ones through a wider signed integer.
template <typename T> uint64_t toUnsigned(T x, unsigned bits) {
  if (bits < 64)
    return toSigned(x, bits < 32 ? 32 : 64);
  uint64_t low = toSigned(x, 64);
  uint64_t high = toSigned(T(x - T(9223372036854775808.0L)), 64);
  return low | (high & uint64_t(int64_t(low) >> 63));
}

template <typename T> uint64_t saturated(T x, unsigned bits, bool isSigned) {
  if (std::isnan(x))
    return 0;
  long double whole = std::trunc(static_cast<long double>(x));
  long double least = isSigned ? -std::ldexp(1.0L, int(bits) - 1) : 0;
  long double above = std::ldexp(1.0L, int(bits) - (isSigned ? 1 : 0));
  if (whole < least)
    return isSigned ? uint64_t(1) << (bits - 1) : 0;
  if (whole >= above)
    return isSigned ? (uint64_t(1) << (bits - 1)) - 1 : ~uint64_t(0);
  return isSigned ? uint64_t(int64_t(whole)) : uint64_t(whole);
}

template <typename T> uint64_t toInteger(unsigned function, T x, unsigned bits) {
  int exponent = 0;
  switch (function) {
  case SF_FN_TO_SINT:
    return toSigned(x, bits);
  case SF_FN_TO_UINT:
    return toUnsigned(x, bits);
  case SF_FN_TO_SINT_SAT:
    return saturated(x, bits, true);
  case SF_FN_TO_UINT_SAT:
    return saturated(x, bits, false);
  case SF_FN_LRINT:
    return hardwareInteger(T(std::rint(x)), bits);
  case SF_FN_LROUND:
    return hardwareInteger(T(std::round(x)), bits);
  default: // SF_FN_EXPONENT
    std::frexp(x, &exponent);
    return uint64_t(int64_t(exponent));
  }
}

template <typename T> uint64_t compute(const sf_row &row, const FourValues &values) {
  using C = typename Carrier<T>::Type;
  const unsigned function = SF_FLOAT_FUNCTION(row.aux), format = SF_FLOAT_FROM(row.aux);
  const Number first = numberFrom(values, format, 0), second = numberFrom(values, format, 1);
  const uint64_t mask = row.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << row.bits) - 1;
  C x = load<T>(first);
  if (function >= SF_FN_TO_SINT)
    return toInteger(function, x, row.bits) & mask;
  if (function == SF_FN_CLASS)
    return (classOf<T>(first) & values[format == SF_X87 ? 2 : 1]) != 0;
  if (function >= SF_FN_EQ && function <= SF_FN_UNO)
    return compared(function, x, C(load<T>(second)));
  if (function == SF_FN_CONVERT)
    return withFormat(SF_FLOAT_TO(row.aux),
                      [&]<typename To>() { return partOf(store<To>(x), row.aux); });
  if (function == SF_FN_FMA)
    return partOf(store<T>(std::fma(x, C(load<T>(second)), C(load<T>({values[2], 0})))), row.aux);
  if (function == SF_FN_LDEXP) {
    int by = int(uint32_t(values[format == SF_X87 ? 2 : 1]));
    return partOf(store<T>(C(std::ldexp(x, by))), row.aux);
  }
  C result =
      floatArity(function) == 2 ? ofTwo<C>(function, x, load<T>(second)) : ofOne<C>(function, x);
  return partOf(store<T>(result), row.aux);
}

uint64_t fromInteger(const sf_row &row, uint64_t value) {
  bool isSigned = SF_FLOAT_FUNCTION(row.aux) == SF_FN_FROM_SINT;
  return withFormat(SF_FLOAT_TO(row.aux), [&]<typename To>() {
    if constexpr (std::is_same_v<To, Half>) {
      long double exact =
          isSigned ? static_cast<long double>(int64_t(value)) : static_cast<long double>(value);
      return partOf(store<To>(exact), row.aux);
    } else {
      return partOf(isSigned ? store<To>(To(int64_t(value))) : store<To>(To(value)), row.aux);
    }
  });
}

/// The number at the start of a text and its length, by strtod.
Number readNumber(const std::string &text, unsigned format, size_t &length) {
  char *end = nullptr;
  Number number = format == SF_SINGLE   ? store<float>(std::strtof(text.c_str(), &end))
                  : format == SF_DOUBLE ? store<double>(std::strtod(text.c_str(), &end))
                                        : store<long double>(std::strtold(text.c_str(), &end));
  length = size_t(end - text.c_str());
  return number;
}

/// The same by another reader.
Number takeNumber(unsigned (*take)(const char *, unsigned, void *), const std::string &text,
                  unsigned format, size_t &length) {
  long double room = 0;
  Number number;
  length = take(text.c_str(), format, &room);
  std::memcpy(&number.low, &room, format == SF_SINGLE ? 4 : 8);
  if (format == SF_X87)
    std::memcpy(&number.high, reinterpret_cast<const char *>(&room) + 8, 2);
  return number;
}

uint64_t parse(const sf_row &row, const FourValues &values) {
  const unsigned result = SF_FLOAT_FUNCTION(row.aux), format = SF_FLOAT_TO(row.aux);
  size_t length = 0;
  const std::string text = textOf(row, values);
  const Number number = SF_TEXT_READER(result) == SF_TEXT_SCANNED_NUMBER
                            ? takeNumber(sf_scanned_number, text, format, length)
                        : SF_TEXT_READER(result) == SF_TEXT_STREAMED_NUMBER
                            ? takeNumber(sf_streamed_number, text, format, length)
                            : readNumber(text, format, length);
  return SF_TEXT_IS_LENGTH(result) ? length : partOf(number, row.aux);
}

} // namespace

uint64_t applyFloat(const sf_row &row, const FourValues &values) {
  if (row.op == SF_OP_TEXT)
    return parse(row, values);
  if (takesInteger(SF_FLOAT_FUNCTION(row.aux)))
    return fromInteger(row, values[0]);
  return withFormat(SF_FLOAT_FROM(row.aux), [&]<typename T>() { return compute<T>(row, values); });
}

std::string textOf(const sf_row &row, const FourValues &values) {
  std::string text;
  for (unsigned i = 0; i < 4 && operandOf(row, i); ++i)
    for (unsigned byte = 0; byte < 8; ++byte)
      text += char(values[i] >> (8 * byte));
  return text;
}

} // namespace sf
