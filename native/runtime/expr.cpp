// Creation and canonical form of expression rows.
#include "expr.h"

#include "symfleet/printed_number.h"

#include <string.h>

namespace sf {

namespace {

uint64_t bitsOf(const Operand &A) { return A.label ? meta(A.label).mask : A.value; }

uint32_t joinDependence(uint32_t A, uint32_t B) {
  if (A == DependsOnNothing || A == B)
    return B;
  return B == DependsOnNothing ? A : DependsOnMany;
}

uint32_t dependenceOf(Label L) { return L ? meta(L).dependence : DependsOnNothing; }

// Finishes a row: an operand without label is the constant k.
Operand make(sf_op Op, unsigned Bits, unsigned Aux, Operand A, Operand B, Operand C, uint64_t Value,
             uint64_t Mask) {
  sf_row R{};
  R.op = (uint8_t)Op;
  R.bits = (uint8_t)Bits;
  R.aux = (uint16_t)Aux;
  R.a = A.label;
  R.b = B.label;
  R.c = C.label;
  bool Binary = (Op >= SF_OP_ADD && Op <= SF_OP_SLE) || (Op >= SF_OP_UADDO && Op <= SF_OP_SMULO) ||
                Op == SF_OP_UMULH;
  if (Binary)
    R.k = A.label ? (B.label ? 0 : B.value) : A.value;
  Meta M{Value, Mask & maskOf(Bits), 0, 0};
  M.dependence = joinDependence(joinDependence(dependenceOf(A.label), dependenceOf(B.label)),
                                dependenceOf(C.label));
  const Label Operands[] = {A.label, B.label, C.label};
  for (Label L : Operands)
    M.flags |= L ? meta(L).flags & RowLength : 0;
  return {internRow(R, M), Value};
}

bool isOp(const Operand &A, sf_op Op) { return A.label && row(A.label).op == Op; }

bool isLowMask(uint64_t V) { return V && (V & (V + 1)) == 0; }

// ---- Bytes

bool isInputRun(const Operand &A, unsigned &Bytes, uint64_t &Offset) {
  if (!isOp(A, SF_OP_INPUT))
    return false;
  Bytes = row(A.label).bits / 8;
  Offset = row(A.label).k;
  return true;
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

// ---- Bitwise and arithmetic rules; return true when Out is the result.

bool simplifyWithConstant(sf_op Op, unsigned Bits, Operand A, uint64_t K, Operand &Out) {
  const uint64_t All = maskOf(Bits);
  const uint64_t Value = evaluate(Op, Bits, 0, A.value, K, 0, Bits, Bits);
  switch (Op) {
  case SF_OP_ADD:
  case SF_OP_SUB:
    Out = A;
    if (K == 0)
      return true;
    if (isOp(A, SF_OP_ADD) && row(A.label).b == 0) { // (x + k1) + k2
      const sf_row &R = row(A.label);
      uint64_t Sum = (R.k + (Op == SF_OP_ADD ? K : 0 - K)) & All;
      Operand X = known(R.a);
      Out = Sum ? binary(SF_OP_ADD, Bits, X, constant(Sum)) : X;
      return true;
    }
    if (Op == SF_OP_SUB) {
      Out = binary(SF_OP_ADD, Bits, A, constant((0 - K) & All));
      return true;
    }
    return false;
  case SF_OP_OR:
  case SF_OP_XOR:
    Out = A;
    if (K == 0)
      return true;
    if (Op == SF_OP_XOR && Bits == 1) {
      Out = logicalNot(A);
      return true;
    }
    if (Op == SF_OP_OR && K == All) {
      Out = constant(All);
      return true;
    }
    return false;
  case SF_OP_AND: {
    uint64_t Mask = meta(A.label).mask;
    if ((Mask & K) == 0) {
      Out = constant(0);
      return true;
    }
    if ((Mask & ~K) == 0) {
      Out = A;
      return true;
    }
    if (isLowMask(K)) {
      unsigned Low = (unsigned)__builtin_popcountll(K);
      Out = zext(extract(A, Bits, 0, Low), Low, Bits);
      return true;
    }
    return false;
  }
  case SF_OP_MUL:
    if (K == 0 || K == 1) {
      Out = K ? A : constant(0);
      return true;
    }
    if ((K & (K - 1)) == 0) {
      Out = binary(SF_OP_SHL, Bits, A, constant((uint64_t)__builtin_ctzll(K)));
      return true;
    }
    return false;
  case SF_OP_UMULH:
    if ((unsigned __int128)meta(A.label).mask * K >> Bits == 0) {
      Out = constant(0);
      return true;
    }
    if ((K & (K - 1)) == 0) {
      Out = binary(SF_OP_LSHR, Bits, A, constant(Bits - (uint64_t)__builtin_ctzll(K)));
      return true;
    }
    return false;
  case SF_OP_UDIV:
    if (K && (K & (K - 1)) == 0) {
      Out = binary(SF_OP_LSHR, Bits, A, constant((uint64_t)__builtin_ctzll(K)));
      return true;
    }
    return false;
  case SF_OP_UREM:
    if (K && (K & (K - 1)) == 0) {
      Out = binary(SF_OP_AND, Bits, A, constant(K - 1));
      return true;
    }
    return false;
  case SF_OP_SHL:
    if (K == 0 || K >= Bits) {
      Out = K ? constant(0) : A;
      return true;
    }
    if (K % 8 == 0 && Bits % 8 == 0) {
      Out = concat(extract(A, Bits, 0, Bits - (unsigned)K), Bits - (unsigned)K, constant(0),
                   (unsigned)K);
      return true;
    }
    return false;
  case SF_OP_LSHR:
    if (K == 0 || K >= Bits) {
      Out = K ? constant(0) : A;
      return true;
    }
    if (K % 8 == 0 || isOp(A, SF_OP_ZEXT)) {
      Out = zext(extract(A, Bits, (unsigned)K, Bits - (unsigned)K), Bits - (unsigned)K, Bits);
      return true;
    }
    return false;
  case SF_OP_ASHR:
    Out = A;
    if (K == 0)
      return true;
    if (!(meta(A.label).mask >> (Bits - 1))) {
      Out = binary(SF_OP_LSHR, Bits, A, constant(K));
      return true;
    }
    return false;
  default:
    (void)Value;
    return false;
  }
}

// Bitwise operations on widened values happen at the inner width.
bool narrowBitwise(sf_op Op, unsigned Bits, Operand A, Operand B, Operand &Out) {
  if (!isOp(A, SF_OP_ZEXT))
    return false;
  Operand X = known(row(A.label).a), Y = constant(0);
  unsigned Width = row(X.label).bits;
  if (isOp(B, SF_OP_ZEXT) && row(row(B.label).a).bits == Width)
    Y = known(row(B.label).a);
  else if (!B.label && (Op == SF_OP_AND || (B.value & ~maskOf(Width)) == 0))
    Y = constant(B.value & maskOf(Width));
  else
    return false;
  Out = zext(binary(Op, Width, X, Y), Width, Bits);
  return true;
}

uint64_t maskOfBinary(sf_op Op, unsigned Bits, Operand A, Operand B) {
  uint64_t MaskA = bitsOf(A), MaskB = bitsOf(B);
  switch (Op) {
  case SF_OP_AND:
    return MaskA & MaskB;
  case SF_OP_OR:
  case SF_OP_XOR:
    return MaskA | MaskB;
  case SF_OP_SHL:
    return B.label || B.value >= Bits ? ~0ull : MaskA << B.value;
  case SF_OP_LSHR:
    return B.label || B.value >= Bits ? ~0ull : MaskA >> B.value;
  case SF_OP_ADD: { // no carry leaves the bits below twice the larger mask
    uint64_t Both = MaskA | MaskB;
    if (!Both || Both >> 62)
      return ~0ull;
    return (1ull << (65 - __builtin_clzll(Both))) - 1;
  }
  case SF_OP_UREM:
    return !B.label && B.value && !(B.value >> 62) ? (1ull << (64 - __builtin_clzll(B.value))) - 1
                                                   : ~0ull;
  default:
    return ~0ull;
  }
}

bool commutes(sf_op Op) {
  return Op == SF_OP_ADD || Op == SF_OP_MUL || Op == SF_OP_AND || Op == SF_OP_OR ||
         Op == SF_OP_XOR || Op == SF_OP_EQ || Op == SF_OP_NE || Op == SF_OP_UADDO ||
         Op == SF_OP_SADDO || Op == SF_OP_UMULO || Op == SF_OP_SMULO || Op == SF_OP_UMULH;
}

void swap(Operand &A, Operand &B) {
  Operand T = A;
  A = B;
  B = T;
}

} // namespace

Operand constantRow(uint64_t Value, unsigned Bits) {
  sf_row R{};
  R.op = SF_OP_CONST;
  R.bits = (uint8_t)Bits;
  R.k = Value;
  return {internRow(R, Meta{Value, Value, DependsOnNothing, 0}), Value};
}

Operand inputBytes(uint64_t Offset, unsigned Bits, uint64_t Value) {
  sf_row R{};
  R.op = SF_OP_INPUT;
  R.bits = (uint8_t)Bits;
  R.k = Offset;
  uint32_t Dependence = Bits == 8 && Offset < DependsOnMany ? (uint32_t)Offset : DependsOnMany;
  return {internRow(R, Meta{Value, maskOf(Bits), Dependence, 0}), Value};
}

Operand inputByteRead(uint64_t Offset) {
  sf_row R{};
  R.op = SF_OP_INPUT;
  R.bits = 8;
  R.k = Offset;
  return known(findRow(R));
}

Operand binary(sf_op Op, unsigned Bits, Operand A, Operand B) {
  const uint64_t Value = evaluate(Op, Bits, 0, A.value, B.value, 0, Bits, Bits);
  if (!A.label && !B.label)
    return constant(Value);
  if (commutes(Op) && (!A.label || (B.label && B.label < A.label)))
    swap(A, B);
  Operand Out;
  if (!B.label && simplifyWithConstant(Op, Bits, A, B.value, Out))
    return Out;
  if (Op == SF_OP_UMULH && B.label && (unsigned __int128)bitsOf(A) * bitsOf(B) >> Bits == 0)
    return constant(0);
  if (A.label == B.label && A.label) {
    if (Op == SF_OP_AND || Op == SF_OP_OR)
      return A;
    if (Op == SF_OP_XOR || Op == SF_OP_SUB)
      return constant(0);
  }
  if (Op == SF_OP_AND || Op == SF_OP_OR || Op == SF_OP_XOR) {
    if (narrowBitwise(Op, Bits, A, B, Out))
      return Out;
    if (B.label && narrowBitwise(Op, Bits, B, A, Out))
      return Out;
  }
  if (Op == SF_OP_OR || Op == SF_OP_XOR || Op == SF_OP_ADD) {
    uint64_t MaskA = bitsOf(A), MaskB = bitsOf(B);
    if ((MaskA & MaskB) == 0) {
      if (Bits % 8 == 0 && Bits > 8 && bytewiseDisjoint(MaskA, MaskB))
        return joinDisjoint(A, B, Bits);
      Op = SF_OP_OR;
    }
  }
  return make(Op, Bits, 0, A, B, {}, Value, maskOfBinary(Op, Bits, A, B));
}

Operand logicalNot(Operand Bit) {
  if (!Bit.label)
    return constant(!Bit.value);
  const sf_row R = row(Bit.label);
  auto Side = [&](Label L) { return L ? known(L) : constant(R.k); };
  switch (R.op) {
  case SF_OP_EQ:
    return compare(SF_OP_NE, R.aux, Side(R.a), Side(R.b));
  case SF_OP_NE:
    return compare(SF_OP_EQ, R.aux, Side(R.a), Side(R.b));
  case SF_OP_ULT:
    return compare(SF_OP_ULE, R.aux, Side(R.b), Side(R.a));
  case SF_OP_ULE:
    return compare(SF_OP_ULT, R.aux, Side(R.b), Side(R.a));
  case SF_OP_SLT:
    return compare(SF_OP_SLE, R.aux, Side(R.b), Side(R.a));
  case SF_OP_SLE:
    return compare(SF_OP_SLT, R.aux, Side(R.b), Side(R.a));
  default:
    return make(SF_OP_XOR, 1, 0, Bit, constant(1), {}, !Bit.value, 1);
  }
}

// A comparison of a labelled value with a constant.
static bool compareWithConstant(sf_op Op, unsigned Bits, Operand A, uint64_t K, Operand &Out) {
  const bool Equality = Op == SF_OP_EQ || Op == SF_OP_NE;
  const uint64_t Mask = meta(A.label).mask;
  const sf_row R = row(A.label);
  if (Equality && (K & ~Mask)) {
    Out = constant(Op == SF_OP_NE);
    return true;
  }
  if (Bits == 1 && Equality) {
    Out = (Op == SF_OP_EQ) == (K == 1) ? A : logicalNot(A);
    return true;
  }
  if (R.op == SF_OP_ZEXT && Equality) {
    unsigned Width = row(R.a).bits;
    Out = compare(Op, Width, known(R.a), constant(K));
    return true;
  }
  if (Op == SF_OP_ULT && K == 1) {
    Out = compare(SF_OP_EQ, Bits, A, constant(0));
    return true;
  }
  if (R.op == SF_OP_ZEXT && (Op == SF_OP_ULT || Op == SF_OP_ULE)) {
    unsigned Width = row(R.a).bits;
    bool Always = Op == SF_OP_ULT ? K > maskOf(Width) : K >= maskOf(Width);
    Out = Always ? constant(1) : compare(Op, Width, known(R.a), constant(K));
    return true;
  }
  if (!Equality)
    return false;
  if (R.op == SF_OP_ITE && row(R.b).op == SF_OP_CONST && row(R.c).op == SF_OP_CONST) {
    const bool Then = (row(R.b).k == K) == (Op == SF_OP_EQ);
    const bool Else = (row(R.c).k == K) == (Op == SF_OP_EQ);
    Out = Then == Else ? constant(Then) : Then ? known(R.a) : logicalNot(known(R.a));
    return true;
  }
  if (R.op == SF_OP_SUB && K == 0) {
    Out = compare(Op, Bits, R.a ? known(R.a) : constant(R.k), R.b ? known(R.b) : constant(R.k));
    return true;
  }
  if (R.op == SF_OP_XOR && K == 0 && R.b) {
    Out = compare(Op, Bits, known(R.a), known(R.b));
    return true;
  }
  if ((R.op == SF_OP_ADD || R.op == SF_OP_XOR) && !R.b) {
    uint64_t Moved = R.op == SF_OP_ADD ? (K - R.k) & maskOf(Bits) : K ^ R.k;
    Out = compare(Op, Bits, known(R.a), constant(Moved));
    return true;
  }
  if (R.op == SF_OP_BSWAP) {
    Out = compare(Op, Bits, known(R.a), constant(__builtin_bswap64(K) >> (64 - Bits)));
    return true;
  }
  return false;
}

Operand compare(sf_op Op, unsigned Bits, Operand A, Operand B) {
  const uint64_t Value = evaluate(Op, 1, Bits, A.value, B.value, 0, Bits, Bits);
  if (!A.label && !B.label)
    return constant(Value);
  if (A.label == B.label && Op <= SF_OP_SLE)
    return constant(Value);
  if (commutes(Op) && (!A.label || (B.label && B.label < A.label)))
    swap(A, B);
  if (Op == SF_OP_SLT || Op == SF_OP_SLE) // both are known not to be negative
    if (!((bitsOf(A) | bitsOf(B)) >> (Bits - 1)))
      Op = Op == SF_OP_SLT ? SF_OP_ULT : SF_OP_ULE;
  Operand Out;
  if (!B.label && Op <= SF_OP_SLE && compareWithConstant(Op, Bits, A, B.value, Out))
    return Out;
  bool Unsigned = Op == SF_OP_EQ || Op == SF_OP_NE || Op == SF_OP_ULT || Op == SF_OP_ULE;
  if (Unsigned) {
    bool ZextA = isOp(A, SF_OP_ZEXT), ZextB = isOp(B, SF_OP_ZEXT);
    if (ZextA && ZextB && row(row(A.label).a).bits == row(row(B.label).a).bits)
      return compare(Op, row(row(A.label).a).bits, known(row(A.label).a), known(row(B.label).a));
    if (!A.label && ZextB) { // constant < zext(x)
      unsigned Width = row(row(B.label).a).bits;
      if (A.value <= maskOf(Width))
        return compare(Op, Width, A, known(row(B.label).a));
      return constant(Value);
    }
  }
  return make(Op, 1, Bits, A, B, {}, Value, 1);
}

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

// Input bytes in descending order: a big-endian number.
static bool bigEndian(const Operand *Bytes, unsigned Count, Operand &Out) {
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

Operand ite(Operand Condition, unsigned Bits, Operand Then, Operand Else) {
  const uint64_t Value = Condition.value ? Then.value : Else.value;
  if (!Condition.label)
    return Condition.value ? Then : Else;
  if (Then.label == Else.label && Then.value == Else.value)
    return Then;
  if (Bits == 1) {
    if (!Then.label)
      return Then.value ? binary(SF_OP_OR, 1, Condition, Else)
                        : binary(SF_OP_AND, 1, logicalNot(Condition), Else);
    if (!Else.label)
      return Else.value ? binary(SF_OP_OR, 1, logicalNot(Condition), Then)
                        : binary(SF_OP_AND, 1, Condition, Then);
  }
  if (!Then.label && !Else.label && Then.value == 1 && Else.value == 0)
    return zext(Condition, 1, Bits);
  uint64_t Mask = bitsOf(Then) | bitsOf(Else);
  Operand T = Then.label ? Then : constantRow(Then.value, Bits);
  Operand E = Else.label ? Else : constantRow(Else.value, Bits);
  if (!T.label || !E.label)
    return constant(Value);
  return make(SF_OP_ITE, Bits, 0, Condition, T, E, Value, Mask);
}

Operand unary(sf_op Op, unsigned Bits, Operand A) {
  const uint64_t Value = evaluate(Op, Bits, 0, A.value, 0, 0, Bits, Bits);
  if (!A.label)
    return constant(Value);
  if ((Op == SF_OP_BSWAP || Op == SF_OP_BITREVERSE) && isOp(A, Op))
    return known(row(A.label).a);
  uint64_t Mask = ~0ull;
  if (Op == SF_OP_BSWAP)
    Mask = __builtin_bswap64(meta(A.label).mask) >> (64 - Bits);
  else if (Op == SF_OP_BITREVERSE)
    Mask = evaluate(Op, Bits, 0, meta(A.label).mask, 0, 0, Bits, Bits);
  else
    Mask = 0x7f;
  return make(Op, Bits, 0, A, {}, {}, Value, Mask);
}

Operand divideDouble(sf_op Op, unsigned Bits, Operand High, Operand Low, Operand By) {
  if (!High.label && High.value == 0) {
    sf_op Plain = Op == SF_OP_UDIVW ? SF_OP_UDIV : SF_OP_UREM;
    return binary(Plain, Bits, Low, By);
  }
  const uint64_t Value = evaluate(Op, Bits, 0, High.value, Low.value, By.value, Bits, Bits);
  if (!High.label && !Low.label && !By.label)
    return constant(Value);
  Operand All[3] = {High, Low, By};
  for (Operand &Each : All)
    if (!Each.label && !(Each = constantRow(Each.value, Bits)).label)
      return constant(Value);
  return make(Op, Bits, 0, All[0], All[1], All[2], Value, ~0ull);
}

Operand arrayRead(Operand Index, unsigned Bits, const void *Elements, uint64_t Count,
                  uint64_t Value) {
  if (!Index.label)
    return constant(Value);
  const unsigned Bytes = Bits / 8;
  uint64_t Mask = 0;
  bool Same = true;
  for (uint64_t I = 0; I < Count; ++I) {
    uint64_t Element = 0;
    memcpy(&Element, (const char *)Elements + I * Bytes, Bytes);
    Mask |= Element;
    Same &= Element == Value;
  }
  uint32_t Offset;
  if (Same || !internBlob(Elements, (uint32_t)Count * Bytes, Offset))
    return constant(Value);
  sf_row R{};
  R.op = SF_OP_ARRAY;
  R.bits = (uint8_t)Bits;
  R.a = Index.label;
  R.c = Offset;
  R.k = Count;
  return {internRow(R, Meta{Value, Mask, dependenceOf(Index.label), 0}), Value};
}

Operand tableRead(uint32_t InputByte, unsigned Bits, const void *Elements, uint64_t Value) {
  Operand Index = inputBytes(InputByte, 8, 0);
  if (!Index.label)
    return constant(Value);
  const unsigned Bytes = Bits / 8;
  uint64_t Mask = 0;
  bool Same = true;
  for (unsigned I = 0; I < 256; ++I) {
    uint64_t Element = 0;
    memcpy(&Element, (const char *)Elements + I * Bytes, Bytes);
    Mask |= Element;
    Same &= Element == Value;
  }
  uint32_t Offset;
  if (Same || !internBlob(Elements, 256 * Bytes, Offset))
    return constant(Value);
  sf_row R{};
  R.op = SF_OP_TABLE;
  R.bits = (uint8_t)Bits;
  R.a = Index.label;
  R.c = Offset;
  return {internRow(R, Meta{Value, Mask, InputByte, 0}), Value};
}

static Operand textRow(sf_op Op, unsigned Bits, Operand A, uint32_t Format, uint64_t Suffix,
                       unsigned Index, uint64_t Value) {
  sf_row R{};
  R.op = (uint8_t)Op;
  R.bits = (uint8_t)Bits;
  R.aux = (uint16_t)Index;
  R.a = A.label;
  R.c = Format;
  R.k = Suffix;
  return {internRow(R, Meta{Value, maskOf(Bits), dependenceOf(A.label), 0}), Value};
}

Operand textByte(Operand A, unsigned Bits, uint32_t Format, uint64_t Suffix, unsigned Index) {
  const uint64_t Value = sf_printed_number_at(A.value, Bits, Format, Suffix, Index);
  return A.label ? textRow(SF_OP_PRINTED, 8, A, Format, Suffix, Index, Value) : constant(Value);
}

Operand textLength(Operand A, unsigned Bits, uint32_t Format, uint64_t Suffix) {
  const uint64_t Value = sf_printed_number(A.value, Bits, Format, Suffix).size;
  return A.label ? textRow(SF_OP_PRINTED_SIZE, 8, A, Format, Suffix, 0, Value) : constant(Value);
}

} // namespace sf
