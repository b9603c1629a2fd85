// Which pages a segment touches: whether any of them has labels is one test.
#include "AssemblyStrings.h"
#include "InlineAssembly.h"
#include "Instrumenter.h"

#include "llvm/ADT/MapVector.h"

using namespace llvm;

namespace symfleet {

namespace {

// Memory that a segment touches, relative to a common base.
struct Range {
  Value *pointer; // as the instruction has it; the only one if count is 1
  int64_t low, high;
  uint64_t alignment;
  unsigned count;
};

constexpr uint64_t PageSize = 1ull << SF_SHADOW_PAGE_BITS;

bool isAssembly(const Instruction *I) {
  auto *Call = dyn_cast<CallBase>(I);
  return Call && Call->isInlineAsm();
}

} // namespace

// One load of the page table for each page that an access can touch.
void Instrumenter::addPageTests(Builder &B, SmallVectorImpl<Value *> &Tests) {
  MapVector<Value *, Range> Ranges;
  SmallVector<Range, 8> Alone;
  SmallVector<Value *, 4> Addresses; // one page test each
  auto Add = [&](Value *Pointer, uint64_t Size, Align Alignment) {
    if (Size > PageSize) { // every page of it
      Value *At = B.CreatePtrToInt(Pointer, RT.Int64);
      for (uint64_t Offset = 0; Offset < Size; Offset += PageSize)
        Addresses.push_back(B.CreateAdd(At, ConstantInt::get(RT.Int64, Offset)));
      Addresses.push_back(B.CreateAdd(At, ConstantInt::get(RT.Int64, Size - 1)));
      return;
    }
    APInt Offset(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
    Value *Base = Pointer->stripAndAccumulateConstantOffsets(DL, Offset, true);
    int64_t Low = Offset.getSExtValue(), High = Low + int64_t(Size);
    Range New{Pointer, Low, High, Alignment.value(), 1};
    auto [It, Inserted] = Ranges.insert({Base, New});
    if (Inserted)
      return;
    Range &Old = It->second;
    int64_t First = std::min(Old.low, Low), Last = std::max(Old.high, High);
    if (uint64_t(Last - First) > PageSize) {
      Alone.push_back(New);
      return;
    }
    bool Same = Old.low == Low && Old.high == High;
    Old.alignment = std::max(Same ? Old.alignment : 1, Same ? Alignment.value() : 1);
    Old.low = First;
    Old.high = Last;
    Old.count += Same ? 0 : 1;
  };
  // Of a short range the first and the last byte are enough; long ones look for
  // themselves.
  auto AddSized = [&](Value *Size, ArrayRef<Value *> Starts) {
    Value *Long = B.CreateICmpUGT(Size, ConstantInt::get(RT.Int64, PageSize));
    Tests.push_back(B.CreateZExt(Long, RT.Int64));
    Value *LastByte = B.CreateSub(Size, ConstantInt::get(RT.Int64, 1));
    for (Value *Start : Starts) {
      Value *At = asInt64(B, Start);
      Addresses.push_back(At);
      Addresses.push_back(B.CreateAdd(At, LastByte));
    }
  };
  for (const Step &S : Segment) {
    Instruction *I = S.instruction;
    if (S.kind == Kind::TakeArgs)
      for (Argument &A : F.args())
        if (A.hasByValAttr())
          Add(&A, uint64_t(DL.getTypeAllocSize(A.getParamByValType())), Align(1));
    if (auto *Call = dyn_cast_or_null<CallBase>(I); Call && S.kind == Kind::PassArgs)
      for (unsigned K = 0; K < Call->arg_size(); ++K)
        if (Call->isByValArgument(K))
          Add(Call->getArgOperand(K), uint64_t(DL.getTypeAllocSize(Call->getParamByValType(K))),
              Align(1));
    if (I && isAssembly(I)) // what it reads, writes or loses
      for (const AsmMemory &M : memoryOfAssembly(*cast<CallBase>(I)))
        Add(M.pointer, DL.getTypeStoreSize(M.type), Align(1));
    if (S.kind != Kind::Operation)
      continue;
    if (auto *L = dyn_cast<LoadInst>(I)) {
      Add(L->getPointerOperand(), DL.getTypeStoreSize(L->getType()), L->getAlign());
    } else if (auto *St = dyn_cast<StoreInst>(I)) {
      Add(St->getPointerOperand(), DL.getTypeStoreSize(St->getValueOperand()->getType()),
          St->getAlign());
    } else if (auto *RMW = dyn_cast<AtomicRMWInst>(I)) {
      Add(RMW->getPointerOperand(), DL.getTypeStoreSize(RMW->getType()), RMW->getAlign());
    } else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(I)) {
      Add(Exchange->getPointerOperand(),
          DL.getTypeStoreSize(Exchange->getCompareOperand()->getType()), Exchange->getAlign());
    } else if (auto *Mem = dyn_cast<MemIntrinsic>(I)) {
      SmallVector<Value *, 2> Starts{Mem->getRawDest()};
      if (auto *Copy = dyn_cast<MemTransferInst>(Mem))
        Starts.push_back(Copy->getRawSource());
      AddSized(asInt64(B, Mem->getLength()), Starts);
    } else if (auto *Call = dyn_cast<CallInst>(I); Call && Call->isInlineAsm()) {
      if (std::optional<AsmString> String = stringOfAssembly(*Call)) {
        SmallVector<Value *, 2> Starts{String->to};
        if (String->from)
          Starts.push_back(String->from);
        Value *Count = asInt64(B, String->count);
        AddSized(B.CreateMul(Count, ConstantInt::get(RT.Int64, String->unit)), Starts);
      }
    }
  }
  for (auto &[Base, R] : Ranges) {
    Value *At = B.CreatePtrToInt(Base, RT.Int64);
    Addresses.push_back(B.CreateAdd(At, ConstantInt::get(RT.Int64, uint64_t(R.low))));
    if (R.count > 1 || R.alignment < uint64_t(R.high - R.low))
      Addresses.push_back(B.CreateAdd(At, ConstantInt::get(RT.Int64, uint64_t(R.high - 1))));
  }
  for (const Range &R : Alone) {
    Value *At = B.CreatePtrToInt(R.pointer, RT.Int64);
    Addresses.push_back(At);
    if (R.alignment < uint64_t(R.high - R.low))
      Addresses.push_back(
          B.CreateAdd(At, ConstantInt::get(RT.Int64, uint64_t(R.high - R.low - 1))));
  }
  Value *Shadow = ConstantExpr::getIntToPtr(ConstantInt::get(RT.Int64, SF_SHADOW_BASE),
                                            PointerType::get(RT.Int64, 0));
  for (Value *At : Addresses) {
    Value *Slot = B.CreateGEP(RT.Int64, Shadow, B.CreateLShr(At, SF_SHADOW_PAGE_BITS));
    Tests.push_back(unchecked(B.CreateLoad(RT.Int64, Slot)));
  }
}

} // namespace symfleet
