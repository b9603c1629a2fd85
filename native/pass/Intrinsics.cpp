// Label operations of LLVM's intrinsics.
#include "Operations.h"
#include "VectorIntrinsics.h"

#include "symfleet/abi.h"

using namespace llvm;

namespace symfleet {

LabelList OperationEmitter::minMax(Builder &B, IntrinsicInst &I, CmpInst::Predicate P) {
  LabelList Out;
  Value *X = I.getArgOperand(0), *Y = I.getArgOperand(1);
  LeafList Leaves = leavesOf(I.getType(), DL);
  for (unsigned K = 0; K < Leaves.size(); ++K) {
    Value *LX = Label(B, X, K), *LY = Label(B, Y, K);
    Value *A = leafValue(B, X, Leaves[K]), *VB = leafValue(B, Y, Leaves[K]);
    Value *Lane = X;
    Value *Other = Y;
    for (unsigned Index : Leaves[K].path) {
      Lane = B.CreateExtractElement(Lane, Index);
      Other = B.CreateExtractElement(Other, Index);
    }
    Value *First = B.CreateZExt(B.CreateICmp(P, Lane, Other), RT.Int64);
    Value *LC = predicate(B, P, Leaves[K].bits, LX, LY, A, VB);
    Out.push_back(select(B, Leaves[K].bits, true, LC, LX, LY, First, A, VB));
  }
  return Out;
}

LabelList OperationEmitter::overflow(Builder &B, IntrinsicInst &I, unsigned Op, unsigned Flag) {
  Value *X = I.getArgOperand(0), *Y = I.getArgOperand(1);
  LeafList Leaves = leavesOf(X->getType(), DL);
  LabelList Out;
  for (const Leaf &L : Leaves) {
    unsigned K = unsigned(Out.size());
    Out.push_back(binary(B, Op, L.bits, Label(B, X, K), Label(B, Y, K), leafValue(B, X, L),
                         leafValue(B, Y, L)));
  }
  for (unsigned K = 0; K < Leaves.size(); ++K)
    Out.push_back(compare(B, Flag, Leaves[K].bits, Label(B, X, K), Label(B, Y, K),
                          leafValue(B, X, Leaves[K]), leafValue(B, Y, Leaves[K])));
  return Out;
}

LabelList OperationEmitter::saturating(Builder &B, IntrinsicInst &I, unsigned Op, unsigned Flag) {
  Value *X = I.getArgOperand(0), *Y = I.getArgOperand(1);
  LabelList Out;
  for (const Leaf &L : leavesOf(I.getType(), DL)) {
    unsigned K = unsigned(Out.size());
    const uint64_t Mask = L.bits == 64 ? ~0ull : (1ull << L.bits) - 1;
    const uint64_t Lowest = 1ull << (L.bits - 1);
    Value *LX = Label(B, X, K), *LY = Label(B, Y, K);
    Value *A = leafValue(B, X, L), *VB = leafValue(B, Y, L);
    Value *Wrapped = B.CreateAnd(Op == SF_OP_ADD ? B.CreateAdd(A, VB) : B.CreateSub(A, VB), Mask);
    Value *Result = leafValue(B, &I, L);
    Value *Clamped = B.CreateZExt(B.CreateICmpNE(Wrapped, Result), RT.Int64);
    Value *LW = binary(B, Op, L.bits, LX, LY, A, VB);
    Value *LC = compare(B, Flag, L.bits, LX, LY, A, VB);
    Value *LB = RT.NoLabel, *Bound;
    if (Flag == SF_OP_UADDO) {
      Bound = number(Mask);
    } else if (Flag == SF_OP_USUBO) {
      Bound = number(0);
    } else { // towards the sign of the first operand
      Value *Negative = B.CreateZExt(B.CreateICmpUGE(A, number(Lowest)), RT.Int64);
      Value *LN = compare(B, SF_OP_SLT, L.bits, LX, RT.NoLabel, A, number(0));
      Bound =
          B.CreateSelect(B.CreateICmpNE(Negative, number(0)), number(Lowest), number(Lowest - 1));
      LB = select(B, L.bits, false, LN, RT.NoLabel, RT.NoLabel, Negative, number(Lowest),
                  number(Lowest - 1));
    }
    Out.push_back(select(B, L.bits, true, LC, LB, LW, Clamped, Bound, Wrapped));
  }
  return Out;
}

Value *OperationEmitter::lengthLabel(Builder &B, Value *Length) {
  Term Short{Label(B, Length, 0), asInt64(B, Length), Length->getType()->getIntegerBitWidth()};
  return Terms(RT, B).zext(Short, 64).label;
}

LabelList OperationEmitter::intrinsic(Builder &B, IntrinsicInst &I) {
  if (auto *Copy = dyn_cast<MemTransferInst>(&I)) {
    concretise(B, Copy->getRawDest());
    concretise(B, Copy->getRawSource());
    RT.call(B, "copy", RT.Void,
            {asInt64(B, Copy->getRawDest()), asInt64(B, Copy->getRawSource()),
             asInt64(B, Copy->getLength()), lengthLabel(B, Copy->getLength()), nextSite()});
    return {};
  }
  if (auto *Fill = dyn_cast<MemSetInst>(&I)) {
    concretise(B, Fill->getRawDest());
    RT.call(B, "fill", RT.Void,
            {asInt64(B, Fill->getRawDest()), asInt64(B, Fill->getValue()),
             asInt64(B, Fill->getLength()), Label(B, Fill->getValue(), 0),
             lengthLabel(B, Fill->getLength()), nextSite()});
    return {};
  }
  LabelList Out;
  if (wideIntrinsic(B, I, Out))
    return Out;
  if (isModelledVectorIntrinsic(I))
    return vectorIntrinsic(B, I);
  Value *X = I.getArgOperand(0);
  LeafList Leaves = leavesOf(I.getType(), DL);
  auto Unary = [&](unsigned Op) {
    for (unsigned K = 0; K < Leaves.size(); ++K) {
      Value *L = Label(B, X, K);
      Out.push_back(
          isZero(L) ? L
                    : RT.call(B, "unary", RT.Int32,
                              {packed(Op | Leaves[K].bits << 8), L, leafValue(B, X, Leaves[K])}));
    }
    return Out;
  };
  switch (I.getIntrinsicID()) {
  case Intrinsic::umin:
    return minMax(B, I, CmpInst::ICMP_ULT);
  case Intrinsic::umax:
    return minMax(B, I, CmpInst::ICMP_UGT);
  case Intrinsic::smin:
    return minMax(B, I, CmpInst::ICMP_SLT);
  case Intrinsic::smax:
    return minMax(B, I, CmpInst::ICMP_SGT);
  case Intrinsic::bswap:
    return Unary(SF_OP_BSWAP);
  case Intrinsic::bitreverse:
    return Unary(SF_OP_BITREVERSE);
  case Intrinsic::ctpop:
    return Unary(SF_OP_CTPOP);
  case Intrinsic::ctlz:
    return Unary(SF_OP_CTLZ);
  case Intrinsic::cttz:
    return Unary(SF_OP_CTTZ);
  case Intrinsic::abs:
    for (unsigned K = 0; K < Leaves.size(); ++K) {
      unsigned Bits = Leaves[K].bits;
      const uint64_t Mask = Bits == 64 ? ~0ull : (1ull << Bits) - 1;
      Value *L = Label(B, X, K), *A = leafValue(B, X, Leaves[K]);
      Value *Negative = B.CreateZExt(B.CreateICmpUGE(A, number(1ull << (Bits - 1))), RT.Int64);
      Value *LN = compare(B, SF_OP_SLT, Bits, L, RT.NoLabel, A, number(0));
      Value *LM = binary(B, SF_OP_SUB, Bits, RT.NoLabel, L, number(0), A);
      Out.push_back(
          select(B, Bits, true, LN, LM, L, Negative, B.CreateAnd(B.CreateNeg(A), Mask), A));
    }
    return Out;
  case Intrinsic::fshl:
  case Intrinsic::fshr: {
    bool Right = I.getIntrinsicID() == Intrinsic::fshr;
    Value *Y = I.getArgOperand(1), *Z = I.getArgOperand(2);
    for (unsigned K = 0; K < Leaves.size(); ++K)
      Out.push_back(RT.call(B, "funnel", RT.Int32,
                            {packed(Leaves[K].bits | (Right ? 0x100 : 0)), Label(B, X, K),
                             Label(B, Y, K), Label(B, Z, K), leafValue(B, X, Leaves[K]),
                             leafValue(B, Y, Leaves[K]), leafValue(B, Z, Leaves[K])}));
    return Out;
  }
  case Intrinsic::uadd_with_overflow:
    return overflow(B, I, SF_OP_ADD, SF_OP_UADDO);
  case Intrinsic::sadd_with_overflow:
    return overflow(B, I, SF_OP_ADD, SF_OP_SADDO);
  case Intrinsic::usub_with_overflow:
    return overflow(B, I, SF_OP_SUB, SF_OP_USUBO);
  case Intrinsic::ssub_with_overflow:
    return overflow(B, I, SF_OP_SUB, SF_OP_SSUBO);
  case Intrinsic::umul_with_overflow:
    return overflow(B, I, SF_OP_MUL, SF_OP_UMULO);
  case Intrinsic::smul_with_overflow:
    return overflow(B, I, SF_OP_MUL, SF_OP_SMULO);
  case Intrinsic::uadd_sat:
    return saturating(B, I, SF_OP_ADD, SF_OP_UADDO);
  case Intrinsic::sadd_sat:
    return saturating(B, I, SF_OP_ADD, SF_OP_SADDO);
  case Intrinsic::usub_sat:
    return saturating(B, I, SF_OP_SUB, SF_OP_USUBO);
  case Intrinsic::ssub_sat:
    return saturating(B, I, SF_OP_SUB, SF_OP_SSUBO);
  case Intrinsic::ptrmask:
    return {binary(B, SF_OP_AND, 64, Label(B, X, 0), Label(B, I.getArgOperand(1), 0), asInt64(B, X),
                   asInt64(B, I.getArgOperand(1)))};
  default: // expect and the like hand their first operand on
    return passThrough(B, X, 0, unsigned(Leaves.size()));
  }
}

} // namespace symfleet
