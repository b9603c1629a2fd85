#include "Leaves.h"

#include "llvm/IR/DerivedTypes.h"

using namespace llvm;

namespace symfleet {

static constexpr unsigned LeavesMax = 64;

static bool collect(Type *T, const DataLayout &DL, Leaf At, LeafList &Out) {
  if (Out.size() > LeavesMax)
    return false;
  if (auto *I = dyn_cast<IntegerType>(T)) {
    unsigned Bits = I->getBitWidth();
    for (unsigned Piece = 0; Piece * 64 < Bits; ++Piece) {
      Leaf L = At;
      L.piece = Piece;
      L.bits = std::min(64u, Bits - Piece * 64);
      L.offset = At.offset + Piece * 8;
      Out.push_back(L);
    }
    return true;
  }
  if (T->isPointerTy() || T->isFloatTy() || T->isDoubleTy() || T->isHalfTy() || T->isBFloatTy()) {
    if (T->isPointerTy() && T->getPointerAddressSpace() != 0)
      return false;
    At.bits = unsigned(uint64_t(DL.getTypeSizeInBits(T)));
    Out.push_back(At);
    return true;
  }
  if (T->isX86_FP80Ty()) { // the number below, its sign and exponent above
    At.bits = 64;
    Out.push_back(At);
    At.piece = 1;
    At.bits = 16;
    At.offset += 8;
    Out.push_back(At);
    return true;
  }
  if (auto *S = dyn_cast<StructType>(T)) {
    if (S->isOpaque())
      return false;
    const StructLayout *Layout = DL.getStructLayout(S);
    for (unsigned I = 0; I < S->getNumElements(); ++I) {
      Leaf L = At;
      L.path.push_back(I);
      L.offset += Layout->getElementOffset(I);
      if (!collect(S->getElementType(I), DL, L, Out))
        return false;
    }
    return true;
  }
  uint64_t Count;
  Type *Element;
  if (auto *A = dyn_cast<ArrayType>(T)) {
    Count = A->getNumElements();
    Element = A->getElementType();
  } else if (auto *V = dyn_cast<FixedVectorType>(T)) {
    Count = V->getNumElements();
    Element = V->getElementType();
  } else {
    return false;
  }
  uint64_t Size = DL.getTypeAllocSize(Element);
  if (Count > LeavesMax)
    return false;
  for (unsigned I = 0; I < Count; ++I) {
    Leaf L = At;
    L.path.push_back(I);
    L.offset += I * Size;
    if (!collect(Element, DL, L, Out))
      return false;
  }
  return true;
}

LeafList leavesOf(Type *T, const DataLayout &DL) {
  LeafList Out;
  if (!T->isSized() || T->isVoidTy())
    return Out;
  if (!collect(T, DL, Leaf{{}, 0, 0, 0}, Out) || Out.size() > LeavesMax)
    Out.clear();
  return Out;
}

Value *asInt64(IRBuilder<> &B, Value *V) {
  Type *T = V->getType();
  if (T->isPointerTy())
    return B.CreatePtrToInt(V, B.getInt64Ty());
  if (!T->isIntegerTy())
    V = B.CreateBitCast(V, B.getIntNTy(unsigned(uint64_t(T->getPrimitiveSizeInBits()))));
  return B.CreateZExtOrTrunc(V, B.getInt64Ty());
}

Value *leafValue(IRBuilder<> &B, Value *V, const Leaf &L) {
  for (unsigned Index : L.path)
    V = V->getType()->isVectorTy() ? B.CreateExtractElement(V, Index)
                                   : B.CreateExtractValue(V, Index);
  if (V->getType()->isX86_FP80Ty())
    V = B.CreateBitCast(V, B.getIntNTy(80));
  if (V->getType()->isIntegerTy() && V->getType()->getIntegerBitWidth() > 64)
    V = B.CreateTrunc(B.CreateLShr(V, L.piece * 64), B.getInt64Ty());
  return asInt64(B, V);
}

unsigned firstLeafAt(Type *T, ArrayRef<unsigned> Indices, const DataLayout &DL) {
  unsigned Count = 0;
  for (const Leaf &L : leavesOf(T, DL)) {
    ArrayRef<unsigned> Path = L.path;
    if (Path.size() >= Indices.size() && Path.take_front(Indices.size()) == Indices)
      return Count;
    ++Count;
  }
  return Count;
}

} // namespace symfleet
