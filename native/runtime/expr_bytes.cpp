// Values that are widened, cut, and put together from bytes.
#include "expr_row.h"

namespace sf {

Operand zext(Operand A, unsigned From, unsigned To) {
  if (!A.label || From == To)
    return A;
  if (isOp(A, SF_OP_ZEXT)) {
    Operand Inner = known(row(A.label).a);
    return make(SF_OP_ZEXT, To, 0, Inner, {}, {}, A.value, meta(Inner.label).mask);
  }
  return make(SF_OP_ZEXT, To, 0, A, {}, {}, A.value, meta(A.label).mask);
}

Operand sext(Operand A, unsigned From, unsigned To) {
  if (!A.label)
    return constant((uint64_t)signExtend(A.value, From) & maskOf(To));
  if (From == To)
    return A;
  if (!(meta(A.label).mask >> (From - 1)))
    return zext(A, From, To);
  return make(SF_OP_SEXT, To, 0, A, {}, {}, (uint64_t)signExtend(A.value, From) & maskOf(To),
              ~0ull);
}

Operand extract(Operand A, unsigned From, unsigned Low, unsigned Bits) {
  const uint64_t Value = A.value >> Low & maskOf(Bits);
  if (!A.label || !(meta(A.label).mask >> Low & maskOf(Bits)))
    return constant(Value);
  if (Low == 0 && Bits == From)
    return A;
  const sf_row R = row(A.label);
  switch (R.op) {
  case SF_OP_INPUT: {
    unsigned First = Low / 8, Last = (Low + Bits + 7) / 8;
    if (First == 0 && Last * 8 == From)
      break;
    Operand Part = inputBytes(R.k + First, (Last - First) * 8,
                              A.value >> (First * 8) & maskOf((Last - First) * 8));
    return Part.label ? extract(Part, (Last - First) * 8, Low - First * 8, Bits) : constant(Value);
  }
  case SF_OP_EXTRACT:
    return extract(known(R.a), row(R.a).bits, R.aux + Low, Bits);
  case SF_OP_CONCAT: {
    unsigned LowBits = row(R.b).bits;
    if (Low >= LowBits)
      return extract(known(R.a), row(R.a).bits, Low - LowBits, Bits);
    if (Low + Bits <= LowBits)
      return extract(known(R.b), LowBits, Low, Bits);
    Operand High = extract(known(R.a), row(R.a).bits, 0, Low + Bits - LowBits);
    return concat(High, Low + Bits - LowBits, extract(known(R.b), LowBits, Low, LowBits - Low),
                  LowBits - Low);
  }
  case SF_OP_CONST:
    return constant(Value);
  case SF_OP_ZEXT:
  case SF_OP_SEXT: {
    unsigned Inner = row(R.a).bits;
    if (Low + Bits <= Inner)
      return extract(known(R.a), Inner, Low, Bits);
    if (R.op == SF_OP_ZEXT)
      return zext(extract(known(R.a), Inner, Low, Inner - Low), Inner - Low, Bits);
    if (Low == 0)
      return sext(known(R.a), Inner, Bits);
    break;
  }
  case SF_OP_AND:
  case SF_OP_OR:
  case SF_OP_XOR: {
    Operand Y = R.b ? known(R.b) : constant(R.k);
    return binary((sf_op)R.op, Bits, extract(known(R.a), From, Low, Bits),
                  extract(Y, From, Low, Bits));
  }
  case SF_OP_ADD:
  case SF_OP_SUB:
    if (Low == 0) { // the low bits of a sum need only low bits
      Operand X = R.a ? known(R.a) : constant(R.k), Y = R.b ? known(R.b) : constant(R.k);
      return binary((sf_op)R.op, Bits, extract(X, From, 0, Bits), extract(Y, From, 0, Bits));
    }
    break;
  case SF_OP_BSWAP:
    if (Bits == 8 && Low % 8 == 0)
      return extract(known(R.a), From, From - 8 - Low, 8);
    break;
  default:
    break;
  }
  return make(SF_OP_EXTRACT, Bits, Low, A, {}, {}, Value, meta(A.label).mask >> Low);
}

Operand concat(Operand High, unsigned HighBits, Operand Low, unsigned LowBits) {
  const unsigned Bits = HighBits + LowBits;
  const uint64_t Value = High.value << LowBits | Low.value;
  if (!High.label && !Low.label)
    return constant(Value);
  if (!High.label && High.value == 0)
    return zext(Low, LowBits, Bits);
  if (High.label && Low.label) {
    const sf_row H = row(High.label), L = row(Low.label);
    if (H.op == SF_OP_INPUT && L.op == SF_OP_INPUT && L.k + LowBits / 8 == H.k)
      return inputBytes(L.k, Bits, Value);
    if (H.op == SF_OP_EXTRACT && L.op == SF_OP_EXTRACT && H.a == L.a && L.aux + LowBits == H.aux)
      return extract(known(H.a), row(H.a).bits, L.aux, Bits);
    if (H.op == SF_OP_EXTRACT && H.a == Low.label && H.aux == LowBits)
      return extract(known(H.a), row(H.a).bits, 0, Bits);
  }
  if (isOp(High, SF_OP_ZEXT)) { // leading zeros move outward
    unsigned Inner = row(row(High.label).a).bits;
    return zext(concat(known(row(High.label).a), Inner, Low, LowBits), Inner + LowBits, Bits);
  }
  uint64_t Mask = bitsOf(High) << LowBits | bitsOf(Low);
  Operand H = High.label ? High : constantRow(High.value, HighBits);
  Operand L = Low.label ? Low : constantRow(Low.value, LowBits);
  if (!H.label || !L.label)
    return constant(Value);
  return make(SF_OP_CONCAT, Bits, 0, H, L, {}, Value, Mask);
}

namespace {

bool isInputRun(const Operand &A, unsigned &Bytes, uint64_t &Offset) {
  if (!isOp(A, SF_OP_INPUT))
    return false;
  Bytes = row(A.label).bits / 8;
  Offset = row(A.label).k;
  return true;
}

// Input bytes in descending order: a big-endian number.
bool bigEndian(const Operand *Bytes, unsigned Count, Operand &Out) {
  if (Count != 2 && Count != 4 && Count != 8)
    return false;
  uint64_t Swapped = 0, Last = 0;
  for (unsigned I = 0; I < Count; ++I) {
    unsigned Size;
    uint64_t Offset;
    if (!isInputRun(Bytes[I], Size, Offset) || Size != 1)
      return false;
    if (I && Offset + 1 != Last)
      return false;
    Last = Offset;
    Swapped = Swapped << 8 | Bytes[I].value;
  }
  Operand Run = inputBytes(Last, Count * 8, Swapped);
  if (Run.label)
    Out = unary(SF_OP_BSWAP, Count * 8, Run);
  return Run.label != 0;
}

} // namespace

Operand joinBytes(const Operand *Bytes, unsigned Count) {
  Operand Out;
  if (bigEndian(Bytes, Count, Out))
    return Out;
  // Leading zeros stay outside, so that a narrow number keeps its shape.
  unsigned Used = Count;
  while (Used > 1 && !Bytes[Used - 1].label && !Bytes[Used - 1].value)
    --Used;
  if (Used < Count && bigEndian(Bytes, Used, Out))
    return zext(Out, Used * 8, Count * 8);
  Out = Bytes[0];
  for (unsigned I = 1; I < Used; ++I)
    Out = concat(Bytes[I], 8, Out, 8 * I);
  return zext(Out, Used * 8, Count * 8);
}

// Values that were put together from disjoint bytes by shifts and ors, seen as
// bytes again. Only for masks that do not share a byte.
bool bytewiseDisjoint(uint64_t A, uint64_t B) {
  for (unsigned I = 0; I < 64; I += 8)
    if ((A >> I & 0xff) && (B >> I & 0xff))
      return false;
  return true;
}

// Joins two values with disjoint bytes: input bytes one by one, so that numbers
// of either byte order are recognised, all else in runs as long as possible.
Operand joinDisjoint(Operand A, Operand B, unsigned Bits) {
  const unsigned Count = Bits / 8;
  const uint64_t MaskA = bitsOf(A), MaskB = bitsOf(B);
  auto Source = [&](unsigned I) -> const Operand & { return (MaskB >> (8 * I) & 0xff) ? B : A; };
  auto Part = [&](const Operand &From, unsigned Low, unsigned Width) {
    return From.label ? extract(From, Bits, Low, Width)
                      : constant(From.value >> Low & maskOf(Width));
  };
  Operand Bytes[8];
  bool OnlyInput = true;
  for (unsigned I = 0; I < Count && OnlyInput; ++I) {
    bool Zero = !((MaskA | MaskB) >> (8 * I) & 0xff);
    Bytes[I] = Zero ? constant(0) : Part(Source(I), 8 * I, 8);
    OnlyInput = Zero || isOp(Bytes[I], SF_OP_INPUT);
  }
  if (OnlyInput)
    return joinBytes(Bytes, Count);
  Operand Out;
  for (unsigned I = 0; I < Count;) {
    unsigned End = I + 1;
    while (End < Count && &Source(End) == &Source(I))
      ++End;
    Operand Run = Part(Source(I), 8 * I, 8 * (End - I));
    Out = I ? concat(Run, 8 * (End - I), Out, 8 * I) : Run;
    I = End;
  }
  return Out;
}

} // namespace sf
