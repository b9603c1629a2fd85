// Inversion of operations on integers.
#include "inversion_descent.h"

#include <algorithm>

namespace sf {

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

} // namespace sf
