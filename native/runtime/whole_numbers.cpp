// Floating-point numbers that are computed from integers without rounding.
//
// (double)a * (double)b - 3.0, for integers of few bits, is the integer
// a * b - 3: what asks only for its value can ask the integer, which all solvers
// understand. The sign of a zero is lost, so nothing that sees it may ask here.
#include "expr.h"

namespace sf {

namespace {

constexpr unsigned WholeDepthMax = 8;

// Integers of up to this many bits, and two to their power, are exact.
unsigned exactBits(unsigned Format) {
  return Format == SF_HALF ? 11 : Format == SF_SINGLE ? 24 : 53;
}

// The bits of an integral constant as an integer; no flags are raised.
bool decode(uint64_t Bits, unsigned Format, int64_t &Out) {
  const unsigned Fraction = exactBits(Format) - 1;
  const unsigned Width = Format == SF_HALF ? 16 : Format == SF_SINGLE ? 32 : 64;
  const unsigned ExponentBits = Width - 1 - Fraction;
  const int Bias = (1 << (ExponentBits - 1)) - 1;
  int Exponent = (int)(Bits >> Fraction & maskOf(ExponentBits));
  uint64_t Significand = Bits & maskOf(Fraction);
  bool Negative = Bits >> (Width - 1) & 1;
  if (Exponent == 0 && Significand == 0) {
    Out = 0;
    return true;
  }
  int Shift = Exponent - Bias - (int)Fraction; // the value is significand * 2^shift
  if (Exponent == 0 || Shift > 8 || Shift < -(int)Fraction)
    return false;
  Significand |= 1ull << Fraction;
  if (Shift < 0 && (Significand & maskOf((unsigned)-Shift)))
    return false;
  int64_t Magnitude = (int64_t)(Shift < 0 ? Significand >> -Shift : Significand << Shift);
  Out = Negative ? -Magnitude : Magnitude;
  return true;
}

unsigned bitsOfMagnitude(uint64_t Magnitude) {
  return Magnitude ? 64 - (unsigned)__builtin_clzll(Magnitude) : 0;
}

// A bound of an integer of 64 bits: its magnitude is at most two to this power.
unsigned boundOf(Label L, bool Signed) {
  const uint64_t Mask = meta(L).mask;
  if (!(Mask >> 63))
    return bitsOfMagnitude(Mask);
  const sf_row &R = row(L);
  return Signed && R.op == SF_OP_SEXT ? row(R.a).bits - 1u : 64;
}

bool wholeRow(const sf_row &R, unsigned Format, unsigned Depth, WholeNumber &Out);

bool wholeNumber(Operand A, unsigned Format, unsigned Depth, WholeNumber &Out) {
  if (Format == SF_X87 || Depth > WholeDepthMax)
    return false;
  bool Constant = !A.label || row(A.label).op == SF_OP_CONST;
  if (!Constant)
    return wholeRow(row(A.label), Format, Depth, Out) && Out.bits <= exactBits(Format);
  int64_t Value;
  if (!decode(A.value, Format, Value))
    return false;
  Out = {constant((uint64_t)Value), bitsOfMagnitude((uint64_t)(Value < 0 ? -Value : Value))};
  return Out.bits <= exactBits(Format);
}

bool wholeRow(const sf_row &R, unsigned Format, unsigned Depth, WholeNumber &Out) {
  const uint64_t Sign = 1ull << (R.bits - 1);
  if (R.op == SF_OP_XOR && !R.b && R.k == Sign) { // a negation
    if (!wholeNumber(known(R.a), Format, Depth + 1, Out))
      return false;
    Out.value = binary(SF_OP_SUB, 64, constant(0), Out.value);
    return true;
  }
  if (R.op != SF_OP_FLOAT || SF_FLOAT_TO(R.aux) != Format)
    return false;
  const unsigned Function = SF_FLOAT_FUNCTION(R.aux), From = SF_FLOAT_FROM(R.aux);
  WholeNumber Other;
  switch (Function) {
  case SF_FN_FROM_SINT:
  case SF_FN_FROM_UINT:
    Out = {known(R.a), boundOf(R.a, Function == SF_FN_FROM_SINT)};
    return true;
  case SF_FN_ADD:
  case SF_FN_SUB:
  case SF_FN_MUL:
    if (!wholeNumber(known(R.a), From, Depth + 1, Out) ||
        !wholeNumber(known(R.b), From, Depth + 1, Other))
      return false;
    Out.bits = Function == SF_FN_MUL ? Out.bits + Other.bits
                                     : (Out.bits > Other.bits ? Out.bits : Other.bits) + 1;
    if (Out.bits > exactBits(Format))
      return false;
    Out.value = binary(Function == SF_FN_ADD   ? SF_OP_ADD
                       : Function == SF_FN_SUB ? SF_OP_SUB
                                               : SF_OP_MUL,
                       64, Out.value, Other.value);
    return true;
  case SF_FN_FLOOR:
  case SF_FN_CEIL:
  case SF_FN_TRUNC:
  case SF_FN_RINT:
  case SF_FN_ROUND:
  case SF_FN_CONVERT:
    return wholeNumber(known(R.a), From, Depth + 1, Out);
  default:
    return false;
  }
}

} // namespace

bool asWholeNumber(Operand A, unsigned Format, WholeNumber &Out) {
  return wholeNumber(A, Format, 0, Out);
}

} // namespace sf
