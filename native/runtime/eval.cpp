// Evaluation of operations and of small expressions.
#include "expr.h"

#include "symfleet/printed_number.h"

#include <string.h>

namespace sf {

// (A above B) by C, bit by bit: the compiler's own division of 128 bits is a
// function of a library that a target need not have.
static uint64_t divideDouble(sf_op Op, unsigned Bits, uint64_t A, uint64_t B, uint64_t C) {
  unsigned __int128 Rest = 0;
  uint64_t Quotient = 0;
  if (C == 0)
    return Op == SF_OP_UDIVW ? maskOf(Bits) : B;
  for (unsigned I = 2 * Bits; I-- > 0;) {
    uint64_t Bit = I >= Bits ? A >> (I - Bits) & 1 : B >> I & 1;
    Rest = Rest << 1 | Bit;
    bool Fits = Rest >= C;
    Rest -= Fits ? C : 0;
    Quotient = Quotient << 1 | Fits;
  }
  return (Op == SF_OP_UDIVW ? Quotient : (uint64_t)Rest) & maskOf(Bits);
}

uint64_t evaluate(sf_op Op, unsigned Bits, unsigned Aux, uint64_t A, uint64_t B, uint64_t C,
                  unsigned WidthA, unsigned WidthB) {
  const uint64_t M = maskOf(Bits);
  switch (Op) {
  case SF_OP_ADD:
    return (A + B) & M;
  case SF_OP_SUB:
    return (A - B) & M;
  case SF_OP_MUL:
    return (A * B) & M;
  case SF_OP_UDIV:
    return B ? A / B : M;
  case SF_OP_UREM:
    return B ? A % B : A;
  case SF_OP_SDIV: {
    int64_t X = signExtend(A, Bits), Y = signExtend(B, Bits);
    if (Y == 0)
      return X < 0 ? 1 : M;
    return Y == -1 ? (0 - (uint64_t)X) & M : (uint64_t)(X / Y) & M;
  }
  case SF_OP_SREM: {
    int64_t X = signExtend(A, Bits), Y = signExtend(B, Bits);
    if (Y == 0)
      return A;
    return Y == -1 ? 0 : (uint64_t)(X % Y) & M;
  }
  case SF_OP_AND:
    return A & B;
  case SF_OP_OR:
    return A | B;
  case SF_OP_XOR:
    return A ^ B;
  case SF_OP_SHL:
    return B >= Bits ? 0 : (A << B) & M;
  case SF_OP_LSHR:
    return B >= Bits ? 0 : A >> B;
  case SF_OP_ASHR:
    return (uint64_t)(signExtend(A, Bits) >> (B >= Bits ? Bits - 1 : B)) & M;
  case SF_OP_EQ:
    return A == B;
  case SF_OP_NE:
    return A != B;
  case SF_OP_ULT:
    return A < B;
  case SF_OP_ULE:
    return A <= B;
  case SF_OP_SLT:
    return signExtend(A, Aux) < signExtend(B, Aux);
  case SF_OP_SLE:
    return signExtend(A, Aux) <= signExtend(B, Aux);
  case SF_OP_ZEXT:
    return A;
  case SF_OP_SEXT:
    return (uint64_t)signExtend(A, WidthA) & M;
  case SF_OP_EXTRACT:
    return (A >> Aux) & M;
  case SF_OP_CONCAT:
    return A << WidthB | B;
  case SF_OP_ITE:
    return A ? B : C;
  case SF_OP_BSWAP:
    return __builtin_bswap64(A) >> (64 - Bits);
  case SF_OP_CTPOP:
    return (uint64_t)__builtin_popcountll(A);
  case SF_OP_CTLZ:
    return A ? (uint64_t)__builtin_clzll(A) - (64 - Bits) : Bits;
  case SF_OP_CTTZ:
    return A ? (uint64_t)__builtin_ctzll(A) : Bits;
  case SF_OP_UADDO:
    return ((A + B) & maskOf(Aux)) < A;
  case SF_OP_USUBO:
    return A < B;
  case SF_OP_UMULO:
    return (unsigned __int128)A * B > maskOf(Aux);
  case SF_OP_SADDO:
  case SF_OP_SSUBO:
  case SF_OP_SMULO: {
    __int128 X = signExtend(A, Aux), Y = signExtend(B, Aux);
    __int128 R = Op == SF_OP_SADDO ? X + Y : Op == SF_OP_SSUBO ? X - Y : X * Y;
    return R != (__int128)signExtend((uint64_t)R & maskOf(Aux), Aux);
  }
  case SF_OP_BITREVERSE: {
    uint64_t Out = 0;
    for (unsigned I = 0; I < Bits; ++I)
      Out |= (A >> I & 1) << (Bits - 1 - I);
    return Out;
  }
  case SF_OP_NUMBER:
    return A;
  case SF_OP_UMULH:
    return (uint64_t)((unsigned __int128)A * B >> Bits);
  case SF_OP_UDIVW:
  case SF_OP_UREMW:
    return divideDouble(Op, Bits, A, B, C);
  case SF_OP_CONST:
  case SF_OP_INPUT:
  case SF_OP_LENGTH:
  case SF_OP_TABLE:
  case SF_OP_ARRAY:
  case SF_OP_FLOAT: // not evaluated in the target
  case SF_OP_TEXT:
  case SF_OP_PRINTED:
  case SF_OP_PRINTED_SIZE:
  case SF_OP_INVALID:
    break;
  }
  __builtin_unreachable();
}

namespace {

constexpr unsigned NodesMax = 128;

// The rows below a label in ascending order, operands before their users.
struct Slice {
  Label rows[NodesMax];
  uint64_t values[NodesMax];
  unsigned count;

  int find(Label L) const {
    for (unsigned I = 0; I < count; ++I)
      if (rows[I] == L)
        return (int)I;
    return -1;
  }

  bool collect(Label Root) {
    count = 0;
    rows[count++] = Root;
    for (unsigned I = 0; I < count; ++I) {
      const sf_row &R = row(rows[I]);
      Label Operands[3] = {R.a, R.b, isTernary(R.op) ? R.c : 0};
      for (Label L : Operands) {
        if (!L || find(L) >= 0)
          continue;
        if (count == NodesMax)
          return false;
        rows[count++] = L;
      }
    }
    for (unsigned I = 1; I < count; ++I) { // insertion sort: short and local
      Label L = rows[I];
      unsigned J = I;
      for (; J && rows[J - 1] > L; --J)
        rows[J] = rows[J - 1];
      rows[J] = L;
    }
    return true;
  }
};

uint64_t blobElement(const sf_row &R, uint64_t Index) {
  uint64_t Value = 0;
  unsigned Bytes = R.bits / 8;
  memcpy(&Value, G.blobs + R.c + Index * Bytes, Bytes);
  return Value;
}

uint64_t evaluateRow(const Slice &S, const sf_row &R, uint64_t Byte) {
  auto ValueOf = [&](Label L) { return L ? S.values[S.find(L)] : R.k; };
  switch (R.op) {
  case SF_OP_CONST:
    return R.k;
  case SF_OP_INPUT:
    return Byte;
  case SF_OP_TABLE:
    return blobElement(R, ValueOf(R.a));
  case SF_OP_ARRAY: {
    uint64_t Index = ValueOf(R.a);
    return Index < R.k ? blobElement(R, Index) : 0;
  }
  case SF_OP_PRINTED:
    return sf_printed_number_at(ValueOf(R.a), row(R.a).bits, R.c, R.k, R.aux);
  case SF_OP_PRINTED_SIZE:
    return sf_printed_number(ValueOf(R.a), row(R.a).bits, R.c, R.k).size;
  default:
    return evaluate((sf_op)R.op, R.bits, R.aux, ValueOf(R.a), ValueOf(R.b),
                    isTernary(R.op) ? ValueOf(R.c) : 0, R.a ? row(R.a).bits : 0,
                    R.b ? row(R.b).bits : 0);
  }
}

struct CachedTable {
  Label label;
  uint64_t values[256];
};
constexpr unsigned CacheSlots = 64;
CachedTable *Cache;

} // namespace

bool evaluateForEachByte(Label L, uint64_t Values[256]) {
  if (meta(L).dependence >= DependsOnMany)
    return false;
  if (!Cache)
    Cache = (CachedTable *)mapZeroed(CacheSlots * sizeof(CachedTable));
  CachedTable *Hit = Cache ? &Cache[L % CacheSlots] : nullptr;
  if (Hit && Hit->label == L) {
    memcpy(Values, Hit->values, sizeof(Hit->values));
    return true;
  }
  Slice S;
  if (!S.collect(L))
    return false;
  for (uint64_t Byte = 0; Byte < 256; ++Byte) {
    for (unsigned I = 0; I < S.count; ++I)
      S.values[I] = evaluateRow(S, row(S.rows[I]), Byte);
    Values[Byte] = S.values[S.count - 1];
  }
  if (Hit) {
    memcpy(Hit->values, Values, sizeof(Hit->values));
    Hit->label = L;
  }
  return true;
}

} // namespace sf
