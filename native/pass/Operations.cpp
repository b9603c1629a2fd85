// Label operations of integers and addresses, and the choice of the one for an instruction.
#include "Operations.h"

#include "symfleet/abi.h"
#include "symfleet/calls.h"

#include "llvm/IR/GetElementPtrTypeIterator.h"

using namespace llvm;

namespace symfleet {

OperationEmitter::OperationEmitter(Runtime &RT, Function &F, LabelOf Label)
    : RT(RT), F(F), DL(RT.M.getDataLayout()), Label(std::move(Label)) {}

Constant *OperationEmitter::nextSite() {
  StableHash H;
  H.add(RT.SourceName);
  H.add(F.getName());
  H.add(Ordinal++);
  return ConstantInt::get(RT.Int64, H.finish());
}

Value *OperationEmitter::binary(Builder &B, unsigned Op, unsigned Bits, Value *LA, Value *LB,
                                Value *A, Value *VB) {
  if (isZero(LA) && isZero(LB))
    return RT.NoLabel;
  return RT.call(B, "binary", RT.Int32, {packed(Op | Bits << 8), LA, LB, A, VB});
}

Value *OperationEmitter::compare(Builder &B, unsigned Op, unsigned Bits, Value *LA, Value *LB,
                                 Value *A, Value *VB) {
  if (isZero(LA) && isZero(LB))
    return RT.NoLabel;
  return RT.call(B, "compare", RT.Int32, {packed(Op | Bits << 8), LA, LB, A, VB});
}

Value *OperationEmitter::select(Builder &B, unsigned Bits, bool Goal, Value *LC, Value *LT,
                                Value *LE, Value *C, Value *T, Value *E) {
  if (isZero(LC) && isZero(LT) && isZero(LE))
    return RT.NoLabel;
  return RT.call(B, "select", RT.Int32,
                 {packed(Bits | (Goal ? 0x100 : 0)), LC, LT, LE, C, T, E, nextSite()});
}

Value *OperationEmitter::predicate(Builder &B, CmpInst::Predicate P, unsigned Bits, Value *LA,
                                   Value *LB, Value *A, Value *VB) {
  switch (P) {
  case CmpInst::ICMP_EQ:
    return compare(B, SF_OP_EQ, Bits, LA, LB, A, VB);
  case CmpInst::ICMP_NE:
    return compare(B, SF_OP_NE, Bits, LA, LB, A, VB);
  case CmpInst::ICMP_ULT:
    return compare(B, SF_OP_ULT, Bits, LA, LB, A, VB);
  case CmpInst::ICMP_ULE:
    return compare(B, SF_OP_ULE, Bits, LA, LB, A, VB);
  case CmpInst::ICMP_UGT:
    return compare(B, SF_OP_ULT, Bits, LB, LA, VB, A);
  case CmpInst::ICMP_UGE:
    return compare(B, SF_OP_ULE, Bits, LB, LA, VB, A);
  case CmpInst::ICMP_SLT:
    return compare(B, SF_OP_SLT, Bits, LA, LB, A, VB);
  case CmpInst::ICMP_SLE:
    return compare(B, SF_OP_SLE, Bits, LA, LB, A, VB);
  case CmpInst::ICMP_SGT:
    return compare(B, SF_OP_SLT, Bits, LB, LA, VB, A);
  case CmpInst::ICMP_SGE:
    return compare(B, SF_OP_SLE, Bits, LB, LA, VB, A);
  default:
    return RT.NoLabel;
  }
}

// One of the comparisons that rows know, with operands swapped where needed.
static unsigned rowComparison(CmpInst::Predicate P) {
  switch (P) {
  case CmpInst::ICMP_EQ:
    return SF_OP_EQ;
  case CmpInst::ICMP_NE:
    return SF_OP_NE;
  case CmpInst::ICMP_ULT:
  case CmpInst::ICMP_UGT:
    return SF_OP_ULT;
  case CmpInst::ICMP_ULE:
  case CmpInst::ICMP_UGE:
    return SF_OP_ULE;
  case CmpInst::ICMP_SLT:
  case CmpInst::ICMP_SGT:
    return SF_OP_SLT;
  default:
    return SF_OP_SLE;
  }
}

LabelList OperationEmitter::widePredicate(Builder &B, CmpInst::Predicate P, Value *X, Value *Y) {
  bool Swapped = P == CmpInst::ICMP_UGT || P == CmpInst::ICMP_UGE || P == CmpInst::ICMP_SGT ||
                 P == CmpInst::ICMP_SGE;
  if (Swapped)
    std::swap(X, Y);
  return wide(B, rowComparison(P), {X, Y}, 1);
}

LabelList OperationEmitter::emit(Builder &B, Instruction &I) {
  if (std::optional<FloatOperation> Known = floatOperationOf(I, DL))
    return floating(B, I, *Known);
  switch (I.getOpcode()) {
  case Instruction::ICmp:
    return comparison(B, cast<ICmpInst>(I));
  case Instruction::GetElementPtr:
    return elementAddress(B, cast<GetElementPtrInst>(I));
  case Instruction::Select:
    return selection(B, cast<SelectInst>(I));
  case Instruction::Freeze:
  case Instruction::ExtractValue:
  case Instruction::InsertValue:
  case Instruction::ExtractElement:
  case Instruction::InsertElement:
  case Instruction::ShuffleVector:
    return aggregate(B, I);
  case Instruction::Load:
    return load(B, cast<LoadInst>(I));
  case Instruction::Store:
    store(B, cast<StoreInst>(I).getPointerOperand(), cast<StoreInst>(I).getValueOperand());
    return {};
  case Instruction::AtomicRMW:
    return atomicUpdate(B, cast<AtomicRMWInst>(I));
  case Instruction::AtomicCmpXchg:
    return compareExchange(B, cast<AtomicCmpXchgInst>(I));
  case Instruction::Call:
    return isa<IntrinsicInst>(I) ? intrinsic(B, cast<IntrinsicInst>(I))
                                 : assembly(B, cast<CallInst>(I));
  default:
    if (auto *Cast = dyn_cast<CastInst>(&I))
      return conversion(B, *Cast);
    return binaryOperator(B, cast<BinaryOperator>(I));
  }
}

static unsigned tableOp(unsigned Opcode) {
  switch (Opcode) {
  case Instruction::Add:
    return SF_OP_ADD;
  case Instruction::Sub:
    return SF_OP_SUB;
  case Instruction::Mul:
    return SF_OP_MUL;
  case Instruction::UDiv:
    return SF_OP_UDIV;
  case Instruction::SDiv:
    return SF_OP_SDIV;
  case Instruction::URem:
    return SF_OP_UREM;
  case Instruction::SRem:
    return SF_OP_SREM;
  case Instruction::And:
    return SF_OP_AND;
  case Instruction::Or:
    return SF_OP_OR;
  case Instruction::Xor:
    return SF_OP_XOR;
  case Instruction::Shl:
    return SF_OP_SHL;
  case Instruction::LShr:
    return SF_OP_LSHR;
  default:
    return SF_OP_ASHR;
  }
}

// `x && y` and `x || y`, also where the compiler evaluates both.
Value *OperationEmitter::logical(Builder &B, unsigned Op, bool Symmetric, Value *X, Value *Y) {
  Value *LX = Label(B, X, 0), *LY = Label(B, Y, 0);
  if (isZero(LX) && isZero(LY))
    return RT.NoLabel;
  return RT.call(
      B, "logical", RT.Int32,
      {packed(Op | (Symmetric ? 0x100 : 0)), LX, LY, asInt64(B, X), asInt64(B, Y), nextSite()});
}

LabelList OperationEmitter::binaryOperator(Builder &B, BinaryOperator &I) {
  LabelList Out;
  Value *X = I.getOperand(0), *Y = I.getOperand(1);
  if (I.getType()->isIntegerTy(1) &&
      (I.getOpcode() == Instruction::And || I.getOpcode() == Instruction::Or))
    return {logical(B, tableOp(I.getOpcode()), true, X, Y)};
  LeafList Leaves = leavesOf(I.getType(), DL);
  if (isWideInteger(I.getType()) && !I.isBitwiseLogicOp())
    return wide(B, tableOp(I.getOpcode()), {X, Y}, unsigned(Leaves.size()));
  for (unsigned K = 0; K < Leaves.size(); ++K) {
    Value *LX = Label(B, X, K), *LY = Label(B, Y, K);
    if (isZero(LX) && isZero(LY)) {
      Out.push_back(RT.NoLabel);
      continue;
    }
    Value *A = leafValue(B, X, Leaves[K]), *VB = leafValue(B, Y, Leaves[K]);
    if (I.isIntDivRem() && !isZero(LY))
      RT.call(B, "divisor", RT.Void, {packed(Leaves[K].bits), LY, VB, nextSite()});
    Out.push_back(binary(B, tableOp(I.getOpcode()), Leaves[K].bits, LX, LY, A, VB));
  }
  return Out;
}

LabelList OperationEmitter::comparison(Builder &B, ICmpInst &I) {
  LabelList Out;
  Value *X = I.getOperand(0), *Y = I.getOperand(1);
  if (isWideInteger(X->getType()))
    return widePredicate(B, I.getPredicate(), X, Y);
  LeafList Leaves = leavesOf(X->getType(), DL);
  for (unsigned K = 0; K < Leaves.size(); ++K)
    Out.push_back(predicate(B, I.getPredicate(), Leaves[K].bits, Label(B, X, K), Label(B, Y, K),
                            leafValue(B, X, Leaves[K]), leafValue(B, Y, Leaves[K])));
  return Out;
}

static bool sameCut(const LeafList &From, const LeafList &To) {
  return From.size() == To.size() &&
         std::equal(From.begin(), From.end(), To.begin(),
                    [](const Leaf &A, const Leaf &B) { return A.bits == B.bits; });
}

LabelList OperationEmitter::conversion(Builder &B, CastInst &I) {
  LabelList Out;
  Value *X = I.getOperand(0);
  LeafList From = leavesOf(X->getType(), DL), To = leavesOf(I.getType(), DL);
  if (isa<SExtInst>(I) && isWideInteger(I.getType()))
    return wideSignExtension(B, I);
  if (isa<BitCastInst>(I) && !sameCut(From, To))
    return recut(B, X, I.getType());
  const unsigned Op =
      I.getOpcode() == Instruction::SExt ? unsigned(SF_OP_SEXT) : unsigned(SF_OP_ZEXT);
  for (unsigned K = 0; K < To.size(); ++K) {
    Value *L = K < From.size() ? Label(B, X, K) : RT.NoLabel;
    if (isZero(L) || From[K].bits == To[K].bits) {
      Out.push_back(L);
      continue;
    }
    bool Narrows = To[K].bits < From[K].bits;
    uint32_t Kind = (Narrows ? unsigned(SF_OP_EXTRACT) : Op) | From[K].bits << 8 | To[K].bits << 16;
    Out.push_back(RT.call(B, "cast", RT.Int32, {packed(Kind), L, leafValue(B, X, From[K])}));
  }
  return Out;
}

LabelList OperationEmitter::elementAddress(Builder &B, GetElementPtrInst &I) {
  Value *L = Label(B, I.getPointerOperand(), 0);
  Value *At = B.CreatePtrToInt(I.getPointerOperand(), RT.Int64);
  uint64_t Fixed = 0;
  for (auto G = gep_type_begin(I), E = gep_type_end(I); G != E; ++G) {
    Value *Index = G.getOperand();
    if (StructType *S = G.getStructTypeOrNull()) {
      Fixed += DL.getStructLayout(S)->getElementOffset(
          unsigned(cast<ConstantInt>(Index)->getZExtValue()));
      continue;
    }
    uint64_t Size = DL.getTypeAllocSize(G.getIndexedType());
    if (auto *C = dyn_cast<ConstantInt>(Index)) {
      Fixed += uint64_t(C->getSExtValue()) * Size;
      continue;
    }
    Value *Wide = B.CreateSExtOrTrunc(Index, RT.Int64);
    Value *Scaled = B.CreateMul(Wide, number(Size));
    Value *LI = Label(B, Index, 0);
    unsigned Bits = Index->getType()->getIntegerBitWidth();
    if (!isZero(LI)) {
      if (Bits < 64)
        LI = RT.call(B, "cast", RT.Int32,
                     {packed(SF_OP_SEXT | Bits << 8 | 64 << 16), LI, asInt64(B, Index)});
      LI = binary(B, SF_OP_MUL, 64, LI, RT.NoLabel, Wide, number(Size));
    }
    L = binary(B, SF_OP_ADD, 64, L, LI, At, Scaled);
    At = B.CreateAdd(At, Scaled);
  }
  if (Fixed)
    L = binary(B, SF_OP_ADD, 64, L, RT.NoLabel, At, number(Fixed));
  return {L};
}

// `a && b` and `a || b`: the branch that asks for the result sees both.
static bool isLogical(const SelectInst &I) { return I.getType()->isIntegerTy(1); }

static bool isConstant(const Value *V, bool Wanted) {
  auto *C = dyn_cast<ConstantInt>(V);
  return C && C->isOne() == Wanted;
}

LabelList OperationEmitter::selection(Builder &B, SelectInst &I) {
  LabelList Out;
  Value *C = I.getCondition(), *T = I.getTrueValue(), *E = I.getFalseValue();
  if (isLogical(I) && isConstant(E, false))
    return {logical(B, SF_OP_AND, false, C, T)};
  if (isLogical(I) && isConstant(T, true))
    return {logical(B, SF_OP_OR, false, C, E)};
  LeafList Leaves = leavesOf(I.getType(), DL);
  LeafList Conditions = leavesOf(C->getType(), DL);
  bool PerLane = C->getType()->isVectorTy();
  for (unsigned K = 0; K < Leaves.size(); ++K) {
    unsigned Lane = PerLane ? K : 0;
    Out.push_back(select(B, Leaves[K].bits, !isLogical(I), Label(B, C, Lane), Label(B, T, K),
                         Label(B, E, K), leafValue(B, C, Conditions[Lane]),
                         leafValue(B, T, Leaves[K]), leafValue(B, E, Leaves[K])));
  }
  return Out;
}

void OperationEmitter::concretise(Builder &B, Value *V) {
  Value *L = Label(B, V, 0);
  if (!isZero(L))
    RT.call(B, "concrete", RT.Void, {L, asInt64(B, V), nextSite()});
}

} // namespace symfleet
