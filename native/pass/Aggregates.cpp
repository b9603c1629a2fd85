// Labels of structures, arrays and vectors: those of their leaves, passed on.
#include "Operations.h"

using namespace llvm;

namespace symfleet {

LabelList OperationEmitter::passThrough(Builder &B, Value *From, unsigned First, unsigned Count) {
  LabelList Out;
  for (unsigned I = 0; I < Count; ++I)
    Out.push_back(Label(B, From, First + I));
  return Out;
}

LabelList OperationEmitter::aggregate(Builder &B, Instruction &I) {
  unsigned Count = unsigned(leavesOf(I.getType(), DL).size());
  if (isa<FreezeInst>(I))
    return passThrough(B, I.getOperand(0), 0, Count);
  if (auto *X = dyn_cast<ExtractValueInst>(&I))
    return passThrough(B, X->getAggregateOperand(),
                       firstLeafAt(X->getAggregateOperand()->getType(), X->getIndices(), DL),
                       Count);
  if (auto *X = dyn_cast<ExtractElementInst>(&I)) {
    uint64_t Index = cast<ConstantInt>(X->getIndexOperand())->getZExtValue();
    if (Index * Count >= leavesOf(X->getVectorOperandType(), DL).size())
      return LabelList(Count, RT.NoLabel);
    return passThrough(B, X->getVectorOperand(), unsigned(Index) * Count, Count);
  }
  LabelList Out = passThrough(B, I.getOperand(0), 0, Count);
  if (auto *X = dyn_cast<InsertValueInst>(&I)) {
    Value *Inserted = X->getInsertedValueOperand();
    unsigned First = firstLeafAt(I.getType(), X->getIndices(), DL);
    for (unsigned K = 0; K < leavesOf(Inserted->getType(), DL).size(); ++K)
      Out[First + K] = Label(B, Inserted, K);
    return Out;
  }
  if (auto *X = dyn_cast<InsertElementInst>(&I)) {
    unsigned Width = unsigned(leavesOf(X->getOperand(1)->getType(), DL).size());
    uint64_t Index = cast<ConstantInt>(X->getOperand(2))->getZExtValue();
    for (unsigned K = 0; K < Width && (Index + 1) * Width <= Count; ++K)
      Out[Index * Width + K] = Label(B, X->getOperand(1), K);
    return Out;
  }
  auto &X = cast<ShuffleVectorInst>(I);
  auto *Source = dyn_cast<FixedVectorType>(X.getOperand(0)->getType());
  unsigned Width = Source ? unsigned(leavesOf(Source->getElementType(), DL).size()) : 0;
  Out.assign(Count, RT.NoLabel);
  for (unsigned Lane = 0; Width && Lane < Count / Width; ++Lane) {
    int From = X.getMaskValue(Lane);
    unsigned Size = Source->getNumElements();
    for (unsigned K = 0; From >= 0 && K < Width; ++K)
      Out[Lane * Width + K] = unsigned(From) < Size
                                  ? Label(B, X.getOperand(0), unsigned(From) * Width + K)
                                  : Label(B, X.getOperand(1), (unsigned(From) - Size) * Width + K);
  }
  return Out;
}

} // namespace symfleet
