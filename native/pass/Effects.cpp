// Which instructions the engine understands.
#include "Operations.h"

using namespace llvm;

namespace symfleet {

static bool hasWideLeaf(Type *T, const DataLayout &DL) {
  for (const Leaf &L : leavesOf(T, DL))
    if (L.piece)
      return true;
  return false;
}

static Effect effectOfIntrinsic(const IntrinsicInst &I, const DataLayout &DL) {
  if (hasWideLeaf(I.getType(), DL))
    return Effect::Unmodelled;
  switch (I.getIntrinsicID()) {
  case Intrinsic::umin:
  case Intrinsic::umax:
  case Intrinsic::smin:
  case Intrinsic::smax:
  case Intrinsic::abs:
  case Intrinsic::bswap:
  case Intrinsic::ctpop:
  case Intrinsic::ctlz:
  case Intrinsic::cttz:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::uadd_with_overflow:
  case Intrinsic::sadd_with_overflow:
  case Intrinsic::usub_with_overflow:
  case Intrinsic::ssub_with_overflow:
  case Intrinsic::umul_with_overflow:
  case Intrinsic::smul_with_overflow:
  case Intrinsic::uadd_sat:
  case Intrinsic::sadd_sat:
  case Intrinsic::usub_sat:
  case Intrinsic::ssub_sat:
    for (const Use &A : I.args())
      if (hasWideLeaf(A->getType(), DL))
        return Effect::Unmodelled;
    return Effect::Computes;
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::ptrmask:
    return Effect::Computes;
  case Intrinsic::memcpy:
  case Intrinsic::memcpy_inline:
  case Intrinsic::memmove:
  case Intrinsic::memset:
    return Effect::Computes; // no result, but memory labels
  case Intrinsic::is_constant:
  case Intrinsic::objectsize:
  case Intrinsic::eh_typeid_for:
  case Intrinsic::returnaddress:
  case Intrinsic::frameaddress:
  case Intrinsic::stacksave:
    return Effect::None;
  default:
    return I.getType()->isVoidTy() ? Effect::None : Effect::Unmodelled;
  }
}

static Effect effectOfCast(const CastInst &I, const DataLayout &DL) {
  LeafList From = leavesOf(I.getSrcTy(), DL), To = leavesOf(I.getDestTy(), DL);
  if (From.empty() || To.empty())
    return Effect::Unmodelled;
  switch (I.getOpcode()) {
  case Instruction::ZExt:
  case Instruction::Trunc:
    return I.getType()->isVectorTy() &&
                   (hasWideLeaf(I.getSrcTy(), DL) || hasWideLeaf(I.getDestTy(), DL))
               ? Effect::Unmodelled
               : Effect::Computes;
  case Instruction::SExt:
    return hasWideLeaf(I.getDestTy(), DL) ? Effect::Unmodelled : Effect::Computes;
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
    return hasWideLeaf(I.getSrcTy(), DL) || hasWideLeaf(I.getDestTy(), DL) ? Effect::Unmodelled
                                                                           : Effect::Computes;
  case Instruction::AddrSpaceCast:
  case Instruction::BitCast:
    if (From.size() != To.size())
      return Effect::Unmodelled;
    for (unsigned K = 0; K < From.size(); ++K)
      if (From[K].bits != To[K].bits)
        return Effect::Unmodelled;
    return Effect::Computes;
  default:
    return Effect::Unmodelled;
  }
}

static Effect effectOfBinary(const BinaryOperator &I, const DataLayout &DL) {
  if (!I.getType()->isIntOrIntVectorTy() || leavesOf(I.getType(), DL).empty())
    return Effect::Unmodelled;
  if (!hasWideLeaf(I.getType(), DL))
    return Effect::Computes;
  switch (I.getOpcode()) {
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
    return Effect::Computes;
  case Instruction::LShr:
  case Instruction::Shl: { // by whole words only
    auto *Amount = dyn_cast<ConstantInt>(I.getOperand(1));
    return Amount && Amount->getValue().urem(64) == 0 ? Effect::Computes : Effect::Unmodelled;
  }
  default:
    return Effect::Unmodelled;
  }
}

static Effect effectOfAtomic(const AtomicRMWInst &I, const DataLayout &DL) {
  if (leavesOf(I.getType(), DL).size() != 1)
    return Effect::Unmodelled;
  return Effect::Reads;
}

Effect effectOf(const Instruction &I, const DataLayout &DL) {
  switch (I.getOpcode()) {
  case Instruction::ICmp: {
    bool Wide = hasWideLeaf(I.getOperand(0)->getType(), DL);
    if (leavesOf(I.getOperand(0)->getType(), DL).empty() ||
        (Wide && (!cast<ICmpInst>(I).isEquality() || I.getType()->isVectorTy())))
      return Effect::Unmodelled;
    return Effect::Computes;
  }
  case Instruction::GetElementPtr:
    return I.getType()->isPointerTy() ? Effect::Computes : Effect::Unmodelled;
  case Instruction::Select:
  case Instruction::Freeze:
  case Instruction::ExtractValue:
  case Instruction::InsertValue:
  case Instruction::PHI:
    return Effect::Computes;
  case Instruction::ExtractElement:
    return isa<ConstantInt>(I.getOperand(1)) ? Effect::Computes : Effect::Unmodelled;
  case Instruction::InsertElement:
    return isa<ConstantInt>(I.getOperand(2)) ? Effect::Computes : Effect::Unmodelled;
  case Instruction::ShuffleVector:
    return Effect::Computes;
  case Instruction::Load:
    return leavesOf(I.getType(), DL).empty() ? Effect::None : Effect::Reads;
  case Instruction::Store:
    return Effect::Computes;
  case Instruction::AtomicRMW:
    return effectOfAtomic(cast<AtomicRMWInst>(I), DL);
  case Instruction::AtomicCmpXchg:
    return leavesOf(I.getOperand(1)->getType(), DL).size() == 1 ? Effect::Reads
                                                                : Effect::Unmodelled;
  case Instruction::Call:
  case Instruction::Invoke:
  case Instruction::CallBr:
    if (auto *Known = dyn_cast<IntrinsicInst>(&I))
      return effectOfIntrinsic(*Known, DL);
    return cast<CallBase>(I).isInlineAsm() ? Effect::Unmodelled : Effect::Calls;
  case Instruction::Alloca:
  case Instruction::LandingPad:
  case Instruction::Fence:
    return Effect::None;
  default:
    if (auto *Cast = dyn_cast<CastInst>(&I))
      return effectOfCast(*Cast, DL);
    if (auto *Binary = dyn_cast<BinaryOperator>(&I))
      return effectOfBinary(*Binary, DL);
    return I.isTerminator() ? Effect::None : Effect::Unmodelled;
  }
}

bool writesMemoryLabels(const Instruction &I) {
  return isa<StoreInst>(I) || isa<AtomicRMWInst>(I) || isa<AtomicCmpXchgInst>(I) ||
         isa<MemIntrinsic>(I);
}

} // namespace symfleet
