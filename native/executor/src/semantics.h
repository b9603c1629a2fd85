// The meaning of every row operation, written once.
//
// Trusted by the evaluator, the lanes and (through the tests) the Z3
// translation. Division by zero has the value that SMT-LIB gives it; the
// recorded path excludes it by an event of its own.
#pragma once

#include "symfleet/abi.h"
#include "symfleet/printed_number.h"

#include <bit>
#include <cstdint>

namespace sf {

constexpr uint64_t lowBits(unsigned bits) {
  return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

constexpr int64_t asSigned(uint64_t value, unsigned bits) {
  unsigned unused = 64 - bits;
  return int64_t(value << unused) >> unused;
}

/// The inverse of an odd number modulo 2^64 (Newton's iteration).
constexpr uint64_t inverseOf(uint64_t odd) {
  uint64_t inverse = odd;
  for (int i = 0; i < 5; ++i)
    inverse *= 2 - odd * inverse;
  return inverse;
}

constexpr bool isBinaryArithmetic(uint8_t op) {
  return (op >= SF_OP_ADD && op <= SF_OP_ASHR) || op == SF_OP_UMULH;
}
constexpr bool isComparison(uint8_t op) { return op >= SF_OP_EQ && op <= SF_OP_SLE; }
constexpr bool isOverflowFlag(uint8_t op) { return op >= SF_OP_UADDO && op <= SF_OP_SMULO; }
/// Tell whether a and b are labels of which one may be 0, meaning k.
constexpr bool isBinary(uint8_t op) {
  return isBinaryArithmetic(op) || isComparison(op) || isOverflowFlag(op);
}

/// Tell whether c is a label, too.
constexpr bool isTernary(uint8_t op) {
  return op == SF_OP_ITE || op == SF_OP_UDIVW || op == SF_OP_UREMW;
}
constexpr bool isDoubleDivision(uint8_t op) { return op == SF_OP_UDIVW || op == SF_OP_UREMW; }

constexpr uint64_t reverseBits(uint64_t value, unsigned bits) {
  uint64_t result = 0;
  for (unsigned i = 0; i < bits; ++i)
    result |= (value >> i & 1) << (bits - 1 - i);
  return result;
}

/// Operations whose c and k are neither labels nor constants of a binary one.
constexpr bool isPrinted(uint8_t op) { return op == SF_OP_PRINTED || op == SF_OP_PRINTED_SIZE; }

/// The character, or the length, of a number's text.
inline uint64_t printedValue(const sf_row &row, uint64_t number, unsigned numberBits) {
  if (row.op == SF_OP_PRINTED)
    return sf_printed_number_at(number, numberBits, row.c, row.k, row.aux);
  return sf_printed_number(number, numberBits, row.c, row.k).size;
}

/// Compute one operation on values that are held in their low bits.
///
/// `bits` is the width of the result. `aux` is the width of the operands of
/// comparisons and overflow flags, the first bit of an extract, the width of
/// a for zext and sext and of b for concat (Trace fills the latter three in).
template <uint8_t Op>
constexpr uint64_t apply(unsigned bits, unsigned aux, uint64_t x, uint64_t y, uint64_t z) {
  [[maybe_unused]] const uint64_t mask = lowBits(bits);
  if constexpr (Op == SF_OP_ADD)
    return (x + y) & mask;
  else if constexpr (Op == SF_OP_SUB)
    return (x - y) & mask;
  else if constexpr (Op == SF_OP_MUL)
    return (x * y) & mask;
  else if constexpr (Op == SF_OP_UDIV)
    return y ? x / y : mask;
  else if constexpr (Op == SF_OP_UREM)
    return y ? x % y : x;
  else if constexpr (Op == SF_OP_SDIV) {
    int64_t n = asSigned(x, bits), d = asSigned(y, bits);
    if (d == 0)
      return n < 0 ? 1 : mask;
    return (d == -1 ? uint64_t(0) - uint64_t(n) : uint64_t(n / d)) & mask;
  } else if constexpr (Op == SF_OP_SREM) {
    int64_t n = asSigned(x, bits), d = asSigned(y, bits);
    if (d == 0)
      return x;
    return d == -1 ? 0 : uint64_t(n % d) & mask;
  } else if constexpr (Op == SF_OP_AND)
    return x & y;
  else if constexpr (Op == SF_OP_OR)
    return x | y;
  else if constexpr (Op == SF_OP_XOR)
    return x ^ y;
  else if constexpr (Op == SF_OP_SHL)
    return y >= bits ? 0 : (x << y) & mask;
  else if constexpr (Op == SF_OP_LSHR)
    return y >= bits ? 0 : x >> y;
  else if constexpr (Op == SF_OP_ASHR)
    return uint64_t(asSigned(x, bits) >> (y >= bits ? bits - 1 : y)) & mask;
  else if constexpr (Op == SF_OP_EQ)
    return x == y;
  else if constexpr (Op == SF_OP_NE)
    return x != y;
  else if constexpr (Op == SF_OP_ULT)
    return x < y;
  else if constexpr (Op == SF_OP_ULE)
    return x <= y;
  else if constexpr (Op == SF_OP_SLT)
    return asSigned(x, aux) < asSigned(y, aux);
  else if constexpr (Op == SF_OP_SLE)
    return asSigned(x, aux) <= asSigned(y, aux);
  else if constexpr (Op == SF_OP_ZEXT || Op == SF_OP_NUMBER)
    return x;
  else if constexpr (Op == SF_OP_SEXT)
    return uint64_t(asSigned(x, aux)) & mask;
  else if constexpr (Op == SF_OP_EXTRACT)
    return (x >> aux) & mask;
  else if constexpr (Op == SF_OP_CONCAT)
    return (x << aux) | y;
  else if constexpr (Op == SF_OP_ITE)
    return x ? y : z;
  else if constexpr (Op == SF_OP_BSWAP)
    return __builtin_bswap64(x) >> (64 - bits);
  else if constexpr (Op == SF_OP_CTPOP)
    return uint64_t(std::popcount(x)) & mask;
  else if constexpr (Op == SF_OP_CTLZ)
    return (uint64_t(std::countl_zero(x)) - (64 - bits)) & mask;
  else if constexpr (Op == SF_OP_CTTZ)
    return (x ? uint64_t(std::countr_zero(x)) : bits) & mask;
  else if constexpr (Op == SF_OP_BITREVERSE)
    return reverseBits(x, bits);
  else if constexpr (Op == SF_OP_UMULH)
    return uint64_t(static_cast<unsigned __int128>(x) * y >> bits);
  else if constexpr (Op == SF_OP_UDIVW || Op == SF_OP_UREMW) {
    unsigned __int128 whole = static_cast<unsigned __int128>(x) << bits | y;
    if (z == 0)
      return Op == SF_OP_UDIVW ? mask : y;
    return uint64_t(Op == SF_OP_UDIVW ? whole / z : whole % z) & mask;
  } else if constexpr (Op == SF_OP_UADDO)
    return ((x + y) & lowBits(aux)) < x;
  else if constexpr (Op == SF_OP_USUBO)
    return x < y;
  else {
    // Signed flags and umulo: the exact result in 128 bits against the range.
    static_assert(isOverflowFlag(Op));
    if constexpr (Op == SF_OP_UMULO)
      return (static_cast<unsigned __int128>(x) * y >> aux) != 0;
    __int128 n = asSigned(x, aux), d = asSigned(y, aux);
    __int128 exact = Op == SF_OP_SADDO ? n + d : Op == SF_OP_SSUBO ? n - d : n * d;
    return exact != asSigned(uint64_t(exact) & lowBits(aux), aux);
  }
}

/// Call `f.template operator()<Op>()` for a computed operation known only now.
/// Constants, inputs and table reads are the caller's affair; `op` is neither.
template <typename F> decltype(auto) withOperation(uint8_t op, F &&f) {
  switch (op) {
#define SF_CASE(OP)                                                                                \
  case OP:                                                                                         \
    return f.template operator()<OP>();
    SF_CASE(SF_OP_ADD)
    SF_CASE(SF_OP_SUB)
    SF_CASE(SF_OP_MUL)
    SF_CASE(SF_OP_UDIV)
    SF_CASE(SF_OP_SDIV)
    SF_CASE(SF_OP_UREM)
    SF_CASE(SF_OP_SREM)
    SF_CASE(SF_OP_AND)
    SF_CASE(SF_OP_OR)
    SF_CASE(SF_OP_XOR)
    SF_CASE(SF_OP_SHL)
    SF_CASE(SF_OP_LSHR)
    SF_CASE(SF_OP_ASHR)
    SF_CASE(SF_OP_EQ)
    SF_CASE(SF_OP_NE)
    SF_CASE(SF_OP_ULT)
    SF_CASE(SF_OP_ULE)
    SF_CASE(SF_OP_SLT)
    SF_CASE(SF_OP_SLE)
    SF_CASE(SF_OP_ZEXT)
    SF_CASE(SF_OP_SEXT)
    SF_CASE(SF_OP_EXTRACT)
    SF_CASE(SF_OP_CONCAT)
    SF_CASE(SF_OP_ITE)
    SF_CASE(SF_OP_BSWAP)
    SF_CASE(SF_OP_CTPOP)
    SF_CASE(SF_OP_CTLZ)
    SF_CASE(SF_OP_CTTZ)
    SF_CASE(SF_OP_UADDO)
    SF_CASE(SF_OP_SADDO)
    SF_CASE(SF_OP_USUBO)
    SF_CASE(SF_OP_SSUBO)
    SF_CASE(SF_OP_UMULO)
    SF_CASE(SF_OP_SMULO)
    SF_CASE(SF_OP_BITREVERSE)
    SF_CASE(SF_OP_UMULH)
    SF_CASE(SF_OP_UDIVW)
    SF_CASE(SF_OP_UREMW)
    SF_CASE(SF_OP_NUMBER)
#undef SF_CASE
  }
  __builtin_unreachable();
}

} // namespace sf
