// Which instructions the engine understands.
#include "Floats.h"
#include "InlineAssembly.h"
#include "Operations.h"
#include "VectorIntrinsics.h"

#include "symfleet/calls.h"

using namespace llvm;

namespace symfleet {

static bool hasWideLeaf(Type *T, const DataLayout &DL) {
  for (const Leaf &L : leavesOf(T, DL))
    if (L.piece)
      return true;
  return false;
}

bool isWideInteger(const Type *T) {
  return T->isIntegerTy() && T->getIntegerBitWidth() > 64 &&
         T->getIntegerBitWidth() <= 64 * SF_WIDE_WORDS;
}

// Words of a scalar are handled together; lanes that are wide are not.
static bool hasUnusableWide(Type *T, const DataLayout &DL) {
  return hasWideLeaf(T, DL) && !isWideInteger(T);
}

static bool isModelledWide(const IntrinsicInst &I) {
  switch (I.getIntrinsicID()) {
  case Intrinsic::uadd_sat:
  case Intrinsic::sadd_sat:
  case Intrinsic::usub_sat:
  case Intrinsic::ssub_sat:
    return false;
  default:
    return isWideInteger(I.getArgOperand(0)->getType());
  }
}

static Effect effectOfIntrinsic(const IntrinsicInst &I, const DataLayout &DL) {
  if (isModelledVectorIntrinsic(I))
    return Effect::Computes;
  switch (I.getIntrinsicID()) {
  case Intrinsic::umin:
  case Intrinsic::umax:
  case Intrinsic::smin:
  case Intrinsic::smax:
  case Intrinsic::abs:
  case Intrinsic::bswap:
  case Intrinsic::bitreverse:
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
      if (hasWideLeaf(A->getType(), DL) && !isModelledWide(I))
        return Effect::Unmodelled;
    return leavesOf(I.getType(), DL).empty() ? Effect::Unmodelled : Effect::Computes;
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
#if LLVM_VERSION_MAJOR >= 15
  case Intrinsic::threadlocal_address:
#endif
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
  case Instruction::SExt:
  case Instruction::Trunc:
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
    return hasUnusableWide(I.getSrcTy(), DL) || hasUnusableWide(I.getDestTy(), DL)
               ? Effect::Unmodelled
               : Effect::Computes;
  case Instruction::AddrSpaceCast:
    return From.size() == To.size() ? Effect::Computes : Effect::Unmodelled;
  case Instruction::BitCast: {
    unsigned Bits = 0;
    for (const Leaf &L : From)
      Bits += L.bits;
    for (const Leaf &L : To)
      Bits -= L.bits;
    return Bits == 0 ? Effect::Computes : Effect::Unmodelled;
  }
  default:
    return Effect::Unmodelled;
  }
}

static Effect effectOfBinary(const BinaryOperator &I, const DataLayout &DL) {
  if (!I.getType()->isIntOrIntVectorTy() || leavesOf(I.getType(), DL).empty())
    return Effect::Unmodelled;
  return hasUnusableWide(I.getType(), DL) ? Effect::Unmodelled : Effect::Computes;
}

static Effect effectOfAssembly(const CallBase &Call) {
  if (!isModelledAssembly(Call))
    return Effect::Unmodelled;
  return memoryOfAssembly(Call).empty() ? Effect::Computes : Effect::Reads;
}

static Effect effectOfAtomic(const AtomicRMWInst &I, const DataLayout &DL) {
  if (leavesOf(I.getType(), DL).size() != 1)
    return Effect::Unmodelled;
  return Effect::Reads;
}

Effect effectOf(const Instruction &I, const DataLayout &DL) {
  if (floatOperationOf(I, DL))
    return Effect::Computes;
  switch (I.getOpcode()) {
  case Instruction::ICmp: {
    Type *T = I.getOperand(0)->getType();
    return leavesOf(T, DL).empty() || hasUnusableWide(T, DL) ? Effect::Unmodelled
                                                             : Effect::Computes;
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
    return cast<CallBase>(I).isInlineAsm() ? effectOfAssembly(cast<CallBase>(I)) : Effect::Calls;
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
