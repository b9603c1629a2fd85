// Comparisons and their negation.
#include "expr_row.h"

namespace sf {

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

} // namespace sf
