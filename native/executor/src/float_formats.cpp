#include "float_formats.h"
#include "float_carriers.h"

namespace sf {

long double valueOf(Number number, unsigned format) {
  return withFormat(format,
                    [&]<typename T>() { return static_cast<long double>(load<T>(number)); });
}

Number numberOf(long double value, unsigned format) {
  return withFormat(format, [&]<typename T>() { return store<T>(value); });
}

__int128 positionOf(Number number, unsigned format) {
  const unsigned width = widthOfFormat(format);
  bool negative = false;
  __int128 magnitude = 0;
  if (format == SF_X87) { // without the integer bit, which the exponent implies
    negative = number.high >> 15;
    magnitude = __int128(number.high & 0x7fff) << 63 | (number.low & (~uint64_t(0) >> 1));
  } else {
    negative = number.low >> (width - 1) & 1;
    magnitude = number.low & ((uint64_t(1) << (width - 1)) - 1);
  }
  return negative ? -1 - magnitude : magnitude;
}

Number numberAt(__int128 position, unsigned format) {
  bool negative = position < 0;
  unsigned __int128 magnitude = static_cast<unsigned __int128>(negative ? -1 - position : position);
  if (format != SF_X87) {
    const unsigned width = widthOfFormat(format);
    uint64_t sign = uint64_t(1) << (width - 1);
    return {(uint64_t(magnitude) & (sign - 1)) | (negative ? sign : 0), 0};
  }
  uint16_t exponent = uint16_t(magnitude >> 63) & 0x7fff;
  uint64_t integerBit = exponent ? uint64_t(1) << 63 : 0;
  return {(uint64_t(magnitude) & (~uint64_t(0) >> 1)) | integerBit,
          uint16_t(exponent | (negative ? 0x8000 : 0))};
}

} // namespace sf
