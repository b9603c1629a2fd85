// The C++ types that the numbers of each format are computed in.
//
// Half has no type of its own: it is computed in single and rounded, which gives
// the same for each operation that is not fused.
#pragma once

#include "float_formats.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace sf {

inline long double halfValue(uint16_t bits) {
  int exponent = bits >> 10 & 0x1f;
  long double fraction = bits & 0x3ff;
  long double value = exponent == 0 ? std::ldexp(fraction, -24)
                      : exponent != 0x1f
                          ? std::ldexp(fraction + 1024, exponent - 25)
                          : (fraction != 0 ? std::numeric_limits<long double>::quiet_NaN()
                                           : std::numeric_limits<long double>::infinity());
  return bits >> 15 ? -value : value;
}

/// Round once, to nearest, ties to even.
template <typename T> uint16_t halfBits(T value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  T magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7e00;
  if (magnitude == 0)
    return sign;
  int exponent = 0;
  if (!std::isinf(value))
    std::frexp(magnitude, &exponent);
  if (std::isinf(value) || exponent > 17)
    return sign | 0x7c00;
  int quantum = exponent - 11 < -24 ? -24 : exponent - 11;
  // Subnormal numbers continue into the normal ones: adding carries over.
  uint32_t units = uint32_t(std::nearbyint(std::ldexp(magnitude, -quantum)));
  uint32_t bits = units + (uint32_t(quantum + 24) << 10);
  return sign | uint16_t(bits > 0x7c00 ? 0x7c00 : bits);
}

struct Half {};

template <typename T> struct Carrier {
  using Type = T;
};
template <> struct Carrier<Half> {
  using Type = float;
};

template <typename T> typename Carrier<T>::Type load(Number bits) {
  typename Carrier<T>::Type value{};
  if constexpr (std::is_same_v<T, Half>) {
    value = float(halfValue(uint16_t(bits.low)));
  } else if constexpr (std::is_same_v<T, long double>) {
    std::memcpy(&value, &bits.low, 8);
    std::memcpy(reinterpret_cast<char *>(&value) + 8, &bits.high, 2);
  } else {
    std::memcpy(&value, &bits.low, sizeof value);
  }
  return value;
}

template <typename T, typename From> Number store(From from) {
  Number bits;
  if constexpr (std::is_same_v<T, Half>) {
    bits.low = halfBits(from);
  } else {
    T value = T(from);
    std::memcpy(&bits.low, &value, std::is_same_v<T, long double> ? 8 : sizeof value);
    if constexpr (std::is_same_v<T, long double>)
      std::memcpy(&bits.high, reinterpret_cast<const char *>(&value) + 8, 2);
  }
  return bits;
}

/// Call `f.template operator()<T>()` with the type of a format.
template <typename F> decltype(auto) withFormat(unsigned format, F &&f) {
  switch (format) {
  case SF_HALF:
    return f.template operator()<Half>();
  case SF_SINGLE:
    return f.template operator()<float>();
  case SF_DOUBLE:
    return f.template operator()<double>();
  default:
    return f.template operator()<long double>();
  }
}

} // namespace sf
