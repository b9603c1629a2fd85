// Events of what decides where the program goes next.
#include "Operations.h"

#include "llvm/ADT/MapVector.h"

using namespace llvm;

namespace symfleet {

void OperationEmitter::emitTarget(Builder &B, Value *Target) {
  Value *L = Label(B, Target, 0);
  if (!isZero(L))
    RT.call(B, "target", RT.Void, {L, asInt64(B, Target), nextSite()});
}

void OperationEmitter::emitTerminator(Builder &B, Instruction &I) {
  if (auto *Branch = dyn_cast<BranchInst>(&I)) {
    Value *L = Label(B, Branch->getCondition(), 0);
    Constant *Site = nextSite();
    if (!isZero(L))
      RT.call(B, "branch", RT.Void, {L, asInt64(B, Branch->getCondition()), Site});
  } else if (auto *Switch = dyn_cast<SwitchInst>(&I)) {
    switchEvents(B, *Switch);
  } else if (auto *Indirect = dyn_cast<IndirectBrInst>(&I)) {
    emitTarget(B, Indirect->getAddress());
  }
}

// The ranges of values that lead to each successor but the default one, as
// sf_switch_range has them: low, high, way.
static SmallVector<uint64_t, 48> rangesOf(SwitchInst &I) {
  MapVector<BasicBlock *, SmallVector<uint64_t, 8>> Ways;
  for (auto &Case : I.cases())
    if (Case.getCaseSuccessor() != I.getDefaultDest())
      Ways[Case.getCaseSuccessor()].push_back(Case.getCaseValue()->getZExtValue());
  SmallVector<uint64_t, 48> Ranges;
  uint64_t Number = 0;
  for (auto &[Block, Values] : Ways) {
    llvm::sort(Values);
    for (size_t First = 0, Next; First < Values.size(); First = Next) {
      for (Next = First + 1; Next < Values.size() && Values[Next] == Values[Next - 1] + 1; ++Next)
        ;
      Ranges.append({Values[First], Values[Next - 1], Number});
    }
    ++Number;
  }
  return Ranges;
}

void OperationEmitter::switchEvents(Builder &B, SwitchInst &I) {
  Value *L = Label(B, I.getCondition(), 0);
  Constant *Site = nextSite();
  unsigned Bits = I.getCondition()->getType()->getIntegerBitWidth();
  if (isZero(L) || Bits > 64)
    return;
  SmallVector<uint64_t, 48> Ranges = rangesOf(I);
  if (Ranges.empty())
    return;
  Constant *List = ConstantDataArray::get(RT.C, Ranges);
  auto *ListGlobal =
      new GlobalVariable(RT.M, List->getType(), true, GlobalValue::PrivateLinkage, List);
  Constant *Fields[] = {Site, ConstantInt::get(RT.Int32, Bits),
                        ConstantInt::get(RT.Int32, Ranges.size() / 3),
                        ConstantExpr::getBitCast(ListGlobal, RT.BytePtr)};
  auto *Type = StructType::get(RT.C, {RT.Int64, RT.Int32, RT.Int32, RT.BytePtr});
  auto *Record = new GlobalVariable(RT.M, Type, true, GlobalValue::PrivateLinkage,
                                    ConstantStruct::get(Type, Fields));
  RT.call(B, "switch", RT.Void,
          {ConstantExpr::getBitCast(Record, RT.BytePtr), L, asInt64(B, I.getCondition())});
}

} // namespace symfleet
