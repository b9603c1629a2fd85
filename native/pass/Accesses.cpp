// Label operations of what reads and writes memory.
#include "Operations.h"

#include "symfleet/abi.h"

#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace symfleet {

LabelList OperationEmitter::load(Builder &B, LoadInst &I) {
  LabelList Out;
  Value *At = B.CreatePtrToInt(I.getPointerOperand(), RT.Int64);
  Value *LA = Label(B, I.getPointerOperand(), 0);
  Constant *Site = nextSite();
  nameObject(B, I.getPointerOperand());
  for (const Leaf &L : leavesOf(I.getType(), DL)) {
    Value *LK = L.offset ? binary(B, SF_OP_ADD, 64, LA, RT.NoLabel, At, number(L.offset)) : LA;
    Out.push_back(RT.call(
        B, "load", RT.Int32,
        {B.CreateAdd(At, number(L.offset)), packed(L.bits), LK, leafValue(B, &I, L), Site}));
  }
  return Out;
}

void OperationEmitter::store(Builder &B, Value *Pointer, Value *Stored) {
  storeLabels(B, Pointer, Stored,
              passThrough(B, Stored, 0, unsigned(leavesOf(Stored->getType(), DL).size())));
}

void OperationEmitter::storeLabels(Builder &B, Value *Pointer, Value *Stored,
                                   ArrayRef<Value *> Labels) {
  Value *At = B.CreatePtrToInt(Pointer, RT.Int64);
  Value *LA = Label(B, Pointer, 0);
  if (all_of(Labels, [&](Value *L) { return isZero(L); })) {
    uint64_t Size = DL.getTypeStoreSize(Stored->getType());
    nameObject(B, Pointer);
    if (!isZero(LA))
      RT.call(B, "write", RT.Void, {LA, At, number(Size), nextSite()});
    RT.call(B, "clear", RT.Void, {At, number(Size)});
    return;
  }
  Constant *Site = nextSite();
  nameObject(B, Pointer);
  LeafList Leaves = leavesOf(Stored->getType(), DL);
  for (unsigned K = 0; K < Leaves.size(); ++K)
    RT.call(B, "store", RT.Void,
            {B.CreateAdd(At, number(Leaves[K].offset)), packed(Leaves[K].bits),
             Leaves[K].offset ? RT.NoLabel : LA, Labels[K], leafValue(B, Stored, Leaves[K]), Site});
}

// Tells how large the object is that an address of unknown value belongs to.
uint64_t sizeOfObject(const Value &Object, const DataLayout &DL) {
  if (auto *Local = dyn_cast<AllocaInst>(&Object); Local && Local->isStaticAlloca())
    return DL.getTypeAllocSize(Local->getAllocatedType()) *
           cast<ConstantInt>(Local->getArraySize())->getZExtValue();
  if (auto *Global = dyn_cast<GlobalVariable>(&Object);
      Global && Global->hasDefinitiveInitializer() && !Global->isThreadLocal())
    return DL.getTypeAllocSize(Global->getValueType());
  return 0;
}

void OperationEmitter::nameObject(Builder &B, Value *Pointer) {
  if (isZero(Label(B, Pointer, 0)))
    return;
  const Value *Known = getUnderlyingObject(Pointer);
  if (uint64_t Size = sizeOfObject(*Known, DL))
    RT.call(B, "object", RT.Void,
            {B.CreatePtrToInt(const_cast<Value *>(Known), RT.Int64), number(Size)});
}

Term OperationEmitter::atomicResult(Builder &B, AtomicRMWInst::BinOp Op, const Term &Old,
                                    const Term &New) {
  Terms T(RT, B);
  if (Op == AtomicRMWInst::Nand)
    return T.binary(SF_OP_XOR, T.binary(SF_OP_AND, Old, New), T.constant(~0ull, Old.bits));
  bool Signed = Op == AtomicRMWInst::Max || Op == AtomicRMWInst::Min;
  bool Largest = Op == AtomicRMWInst::Max || Op == AtomicRMWInst::UMax;
  Term Less = T.compare(Signed ? SF_OP_SLT : SF_OP_ULT, Old, New);
  return Largest ? T.choose(Less, New, Old) : T.choose(Less, Old, New);
}

LabelList OperationEmitter::atomicUpdate(Builder &B, AtomicRMWInst &I) {
  Leaf L = leavesOf(I.getType(), DL)[0];
  Value *At = B.CreatePtrToInt(I.getPointerOperand(), RT.Int64);
  Value *Old = leafValue(B, &I, L), *New = leafValue(B, I.getValOperand(), L);
  Value *LV = Label(B, I.getValOperand(), 0);
  Value *LO = RT.call(B, "load", RT.Int32,
                      {At, packed(L.bits), Label(B, I.getPointerOperand(), 0), Old, nextSite()});
  Value *Mask = number(L.bits == 64 ? ~0ull : (1ull << L.bits) - 1);
  Value *LN = RT.NoLabel, *Stored = New;
  switch (I.getOperation()) {
  case AtomicRMWInst::Xchg:
    LN = LV;
    break;
  case AtomicRMWInst::Add:
    LN = binary(B, SF_OP_ADD, L.bits, LO, LV, Old, New);
    Stored = B.CreateAnd(B.CreateAdd(Old, New), Mask);
    break;
  case AtomicRMWInst::Sub:
    LN = binary(B, SF_OP_SUB, L.bits, LO, LV, Old, New);
    Stored = B.CreateAnd(B.CreateSub(Old, New), Mask);
    break;
  case AtomicRMWInst::And:
    LN = binary(B, SF_OP_AND, L.bits, LO, LV, Old, New);
    Stored = B.CreateAnd(Old, New);
    break;
  case AtomicRMWInst::Or:
    LN = binary(B, SF_OP_OR, L.bits, LO, LV, Old, New);
    Stored = B.CreateOr(Old, New);
    break;
  case AtomicRMWInst::Xor:
    LN = binary(B, SF_OP_XOR, L.bits, LO, LV, Old, New);
    Stored = B.CreateXor(Old, New);
    break;
  case AtomicRMWInst::Nand:
  case AtomicRMWInst::Max:
  case AtomicRMWInst::Min:
  case AtomicRMWInst::UMax:
  case AtomicRMWInst::UMin: {
    Term Result = atomicResult(B, I.getOperation(), {LO, Old, L.bits}, {LV, New, L.bits});
    LN = Result.label;
    Stored = Result.value;
    break;
  }
  default: // the new value is concrete
    break;
  }
  RT.call(B, "store", RT.Void, {At, packed(L.bits), RT.NoLabel, LN, Stored, number(0)});
  return {LO};
}

LabelList OperationEmitter::compareExchange(Builder &B, AtomicCmpXchgInst &I) {
  Value *Wanted = I.getCompareOperand(), *New = I.getNewValOperand();
  Leaf L = leavesOf(Wanted->getType(), DL)[0];
  Value *At = B.CreatePtrToInt(I.getPointerOperand(), RT.Int64);
  Value *Old = asInt64(B, B.CreateExtractValue(&I, 0));
  Value *Done = B.CreateExtractValue(&I, 1);
  Value *LO = RT.call(B, "load", RT.Int32,
                      {At, packed(L.bits), Label(B, I.getPointerOperand(), 0), Old, nextSite()});
  Value *LS = compare(B, SF_OP_EQ, L.bits, LO, Label(B, Wanted, 0), Old, leafValue(B, Wanted, L));
  Value *Kept = B.CreateSelect(Done, Label(B, New, 0), LO);
  Value *Now = B.CreateSelect(Done, leafValue(B, New, L), Old);
  RT.call(B, "store", RT.Void, {At, packed(L.bits), RT.NoLabel, Kept, Now, number(0)});
  return {LO, LS};
}

} // namespace symfleet
