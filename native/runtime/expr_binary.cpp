// Bitwise operations and arithmetic of two operands.
#include "expr_row.h"

namespace sf {

namespace {

bool isLowMask(uint64_t V) { return V && (V & (V + 1)) == 0; }

// These return true when Out is the result.

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

} // namespace

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

} // namespace sf
