// What instrumented code calls for an integer of more than 64 bits.
#include "wide.h"

using namespace sf;

namespace {

// One call: its operands, zero-extended to whole words, and what it gives.
class WideCall {
public:
  WideCall(sf_wide &Record, unsigned Bits, Place At)
      : Record(Record), Bits(Bits), Count((Bits + 63) / 64), At(At) {}

  void run(unsigned Op);

private:
  Wide take(unsigned Which) const;
  Wide takeSigned(unsigned Which) const { return wideSext(take(Which), Bits, Count); }
  void give(const Wide &Result);
  void giveBit(Operand Bit) { Record.results[0] = Bit.label; }

  bool arithmetic(unsigned Op);
  void divide(unsigned Op);
  void comparison(unsigned Op);
  void overflow(unsigned Op);
  void chooseOne(unsigned Op);
  bool bits(unsigned Op);
  void funnel(bool Right);
  Operand zeros(const Wide &A, bool Leading) const;

  sf_wide &Record;
  unsigned Bits, Count;
  Place At;
};

Wide WideCall::take(unsigned Which) const {
  Wide Out{{}, Count};
  for (unsigned I = 0; I < Count; ++I) {
    unsigned Width = Bits - 64 * I < 64 ? Bits - 64 * I : 64;
    Out.words[I] = zext(operand(Record.labels[Which][I], Record.values[Which][I]), Width, 64);
  }
  return Out;
}

void WideCall::give(const Wide &Result) {
  for (unsigned I = 0; I < Count; ++I) {
    unsigned Width = Bits - 64 * I < 64 ? Bits - 64 * I : 64;
    Record.results[I] = extract(Result.words[I], 64, 0, Width).label;
  }
}

bool WideCall::arithmetic(unsigned Op) {
  switch (Op) {
  case SF_OP_ADD:
    give(wideAdd(take(0), take(1)));
    return true;
  case SF_OP_SUB:
    give(wideSubtract(take(0), take(1)));
    return true;
  case SF_OP_MUL:
    give(wideMultiply(take(0), take(1)));
    return true;
  case SF_OP_AND:
  case SF_OP_OR:
  case SF_OP_XOR:
    give(wideBitwise((sf_op)Op, take(0), take(1)));
    return true;
  case SF_OP_SHL:
  case SF_OP_LSHR:
    give(wideShift((sf_op)Op, take(0), take(1).words[0]));
    return true;
  case SF_OP_ASHR:
    give(wideShift(SF_OP_ASHR, takeSigned(0), take(1).words[0]));
    return true;
  default:
    return false;
  }
}

void WideCall::divide(unsigned Op) {
  const bool Signed = Op == SF_OP_SDIV || Op == SF_OP_SREM;
  Wide Zero = wideConstant(0, Count), Quotient, Remainder;
  Wide A = Signed ? takeSigned(0) : take(0), B = Signed ? takeSigned(1) : take(1);
  Operand MinusA = constant(0), MinusB = constant(0);
  if (Signed) { // by absolute values, as the machine has it
    MinusA = wideLess(A, Zero, true);
    MinusB = wideLess(B, Zero, true);
    A = wideChoose(MinusA, wideSubtract(Zero, A), A);
    B = wideChoose(MinusB, wideSubtract(Zero, B), B);
  }
  wideDivide(A, B, At, Quotient, Remainder);
  bool WantsQuotient = Op == SF_OP_UDIV || Op == SF_OP_SDIV;
  Wide Result = WantsQuotient ? Quotient : Remainder;
  if (Signed) {
    Operand Minus = WantsQuotient ? binary(SF_OP_XOR, 1, MinusA, MinusB) : MinusA;
    Result = wideChoose(Minus, wideSubtract(Zero, Result), Result);
  }
  give(Result);
}

void WideCall::comparison(unsigned Op) {
  bool Signed = Op == SF_OP_SLT || Op == SF_OP_SLE;
  Wide A = Signed ? takeSigned(0) : take(0), B = Signed ? takeSigned(1) : take(1);
  switch (Op) {
  case SF_OP_EQ:
    return giveBit(wideEqual(A, B));
  case SF_OP_NE:
    return giveBit(logicalNot(wideEqual(A, B)));
  case SF_OP_ULT:
  case SF_OP_SLT:
    return giveBit(wideLess(A, B, Signed));
  default:
    return giveBit(logicalNot(wideLess(B, A, Signed)));
  }
}

// The exact result in a width that holds it, against what is kept of it.
void WideCall::overflow(unsigned Op) {
  const bool Signed = Op == SF_OP_SADDO || Op == SF_OP_SSUBO || Op == SF_OP_SMULO;
  const unsigned Enough = Op == SF_OP_UMULO || Op == SF_OP_SMULO ? 2 * Count : Count + 1;
  auto Widened = [&](const Wide &A) {
    return Signed ? wideSext(A, Bits, Enough) : wideZext(A, Bits, Enough);
  };
  Wide A = Widened(take(0)), B = Widened(take(1));
  Wide Exact = Op == SF_OP_UMULO || Op == SF_OP_SMULO   ? wideMultiply(A, B)
               : Op == SF_OP_USUBO || Op == SF_OP_SSUBO ? wideSubtract(A, B)
                                                        : wideAdd(A, B);
  give(Exact);
  Record.results[Count] = logicalNot(wideEqual(Exact, Widened(Exact))).label;
}

void WideCall::chooseOne(unsigned Op) {
  Wide A = takeSigned(0), B = takeSigned(1);
  if (Op == SF_WIDE_UMIN || Op == SF_WIDE_UMAX) {
    A = take(0);
    B = take(1);
  }
  bool Signed = Op == SF_WIDE_SMIN || Op == SF_WIDE_SMAX || Op == SF_WIDE_ABS;
  if (Op == SF_WIDE_ABS)
    B = wideSubtract(wideConstant(0, Count), A);
  Operand Less = wideLess(A, B, Signed);
  bool WantsLess = Op == SF_WIDE_UMIN || Op == SF_WIDE_SMIN;
  recordGoal(Less, At);
  give(WantsLess ? wideChoose(Less, A, B) : wideChoose(Less, B, A));
}

// How many zeros come before the first bit that is set.
Operand WideCall::zeros(const Wide &A, bool Leading) const {
  Operand Out = constant(64 * Count);
  for (unsigned I = 0; I < Count; ++I) { // the word that is looked at first comes last
    unsigned Word = Leading ? I : Count - 1 - I, Before = 64 * (Count - 1 - I);
    Operand Here = unary(Leading ? SF_OP_CTLZ : SF_OP_CTTZ, 64, A.words[Word]);
    Out = ite(compare(SF_OP_EQ, 64, A.words[Word], constant(0)), 64, Out,
              binary(SF_OP_ADD, 64, Here, constant(Before)));
  }
  unsigned Unused = 64 * Count - Bits;
  if (Leading)
    return binary(SF_OP_SUB, 64, Out, constant(Unused));
  Operand IsZero = wideEqual(A, wideConstant(0, Count));
  return Unused ? ite(IsZero, 64, constant(Bits), Out) : Out;
}

bool WideCall::bits(unsigned Op) {
  Wide A = take(0), Out = wideConstant(0, Count);
  switch (Op) {
  case SF_OP_CTPOP:
    for (unsigned I = 0; I < Count; ++I)
      Out.words[0] = binary(SF_OP_ADD, 64, Out.words[0], unary(SF_OP_CTPOP, 64, A.words[I]));
    give(Out);
    return true;
  case SF_OP_CTLZ:
  case SF_OP_CTTZ:
    Out.words[0] = zeros(A, Op == SF_OP_CTLZ);
    give(Out);
    return true;
  case SF_OP_BSWAP:
  case SF_OP_BITREVERSE:
    for (unsigned I = 0; I < Count; ++I)
      Out.words[I] = unary((sf_op)Op, 64, A.words[Count - 1 - I]);
    give(wideShift(SF_OP_LSHR, Out, constant(64 * Count - Bits)));
    return true;
  default:
    return false;
  }
}

// Both operands as one number, shifted; whole words only.
void WideCall::funnel(bool Right) {
  Wide High = take(0), Low = take(1), Amount = take(2), Both{{}, 2 * Count};
  for (unsigned I = 0; I < Count; ++I) {
    Both.words[I] = Low.words[I];
    Both.words[Count + I] = High.words[I];
  }
  Operand By = binary(SF_OP_UREM, 64, Amount.words[0], constant(Bits));
  Wide Moved = wideShift(Right ? SF_OP_LSHR : SF_OP_SHL, Both, By), Out{{}, Count};
  for (unsigned I = 0; I < Count; ++I)
    Out.words[I] = Moved.words[Right ? I : Count + I];
  give(Out);
}

void WideCall::run(unsigned Op) {
  if (arithmetic(Op) || bits(Op))
    return;
  if (Op >= SF_OP_UDIV && Op <= SF_OP_SREM)
    divide(Op);
  else if (Op >= SF_OP_EQ && Op <= SF_OP_SLE)
    comparison(Op);
  else if (Op >= SF_OP_UADDO && Op <= SF_OP_SMULO)
    overflow(Op);
  else if (Op >= SF_WIDE_UMIN && Op <= SF_WIDE_ABS)
    chooseOne(Op);
  else if (Op == SF_WIDE_FSHL || Op == SF_WIDE_FSHR)
    funnel(Op == SF_WIDE_FSHR);
}

} // namespace

// Packed: op | width << 8.
SF_API void __sf_wide(uint32_t Packed, sf_wide *Record, uint64_t Site) {
  for (Label &L : Record->results)
    L = 0;
  TableLock Lock;
  if (Lock)
    WideCall(*Record, Packed >> 8, {Site, 0}).run(Packed & 0xff);
}
