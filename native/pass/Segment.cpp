// Flushing a segment: its test, its cold block, and the labels behind it.
#include "InlineAssembly.h"
#include "Instrumenter.h"
#include "OutsideCalls.h"

#include "symfleet/calls.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace symfleet {

namespace {

uint64_t byvalSize(const DataLayout &DL, Type *T) { return DL.getTypeAllocSize(T); }

Value *anyOf(IRBuilder<> &B, ArrayRef<Value *> Values) {
  Value *All = nullptr;
  for (Value *V : Values)
    All = All ? B.CreateOr(All, V) : V;
  return All;
}

} // namespace

Value *Instrumenter::labelOf(Builder &B, Value *V, unsigned Leaf) {
  if (!isTracked(V))
    return RT.NoLabel;
  if (auto It = Cold.find(V); It != Cold.end())
    return It->second[Leaf];
  if (auto It = Labels.find(V); It != Labels.end())
    return It->second[Leaf];
  auto Slot = FirstArgSlot.find(V);
  if (Slot == FirstArgSlot.end() || !AnyArg)
    return RT.NoLabel;
  Value *At =
      B.CreateConstInBoundsGEP2_64(ArgSlots->getAllocatedType(), ArgSlots, 0, Slot->second + Leaf);
  Value *L = unchecked(B.CreateLoad(RT.Int32, At));
  return B.CreateSelect(B.CreateICmpNE(AnyArg, RT.NoLabel), L, RT.NoLabel);
}

bool Instrumenter::definesIn(const Step &S, Value *V) const {
  return S.instruction == V && (S.kind == Kind::Operation || S.kind == Kind::TakeRet);
}

// What may be labelled in this segment, as an i64 that is zero if nothing is;
// null if nothing ever can be.
Value *Instrumenter::segmentTest(Builder &B) {
  SmallSetVector<Value *, 8> Incoming;
  SmallPtrSet<Value *, 16> Defined;
  SmallVector<Value *, 8> Tests;
  bool NeedsArgs = false;
  auto Use = [&](Value *V) {
    if (!isTracked(V) || Defined.count(V))
      return;
    if (auto It = Labels.find(V); It != Labels.end()) {
      for (Value *L : It->second)
        if (L != RT.NoLabel)
          Incoming.insert(L);
    } else {
      NeedsArgs |= FirstArgSlot.count(V) != 0;
    }
  };
  for (const Step &S : Segment) {
    switch (S.kind) {
    case Kind::TakeArgs:
      Tests.push_back(ArgToken);
      break;
    case Kind::TakeRet:
      Tests.push_back(RetTokens[S.instruction]);
      break;
    case Kind::VaStart:
      Tests.push_back(B.CreateLoad(
          RT.Int64, B.CreateConstInBoundsGEP2_64(Varargs->getAllocatedType(), Varargs, 0, 0)));
      break;
    case Kind::PassArgs:
      for (const llvm::Use &A : cast<CallBase>(S.instruction)->args())
        Use(A.get());
      break;
    case Kind::Operation:
    case Kind::PassRet:
    case Kind::Terminator:
    case Kind::Lost:
    case Kind::AsmWrites:
    case Kind::Target:
      for (const llvm::Use &V : S.instruction->operands())
        Use(V.get());
      break;
    }
    if (S.kind == Kind::Operation || S.kind == Kind::TakeRet)
      Defined.insert(S.instruction);
  }
  if (NeedsArgs && AnyArg)
    Incoming.insert(AnyArg);
  addPageTests(B, Tests);
  if (Value *Any = anyOf(B, Incoming.getArrayRef()))
    Tests.push_back(B.CreateZExt(Any, RT.Int64));
  return anyOf(B, Tests);
}

void Instrumenter::flush(Instruction &Before) {
  if (Segment.empty())
    return;
  Builder B(&Before);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Test = segmentTest(B);
  if (!Test || isa<Constant>(Test)) {
    for (const Step &S : Segment)
      if (S.kind == Kind::Operation && isTracked(S.instruction))
        Labels[S.instruction] = LabelList(leafCount(S.instruction), RT.NoLabel);
    Segment.clear();
    return;
  }
  BasicBlock *Head = Before.getParent();
  MDNode *Unlikely = MDBuilder(RT.C).createBranchWeights(1, 1u << 20);
  Instruction *ColdEnd = SplitBlockAndInsertIfThen(
      B.CreateICmpNE(Test, ConstantInt::get(RT.Int64, 0)), &Before, false, Unlikely);
  Builder ColdBuilder(ColdEnd);
  DebugLoc Where; // calls of inlinable functions need a location
  for (const Step &S : Segment)
    if (!Where && S.instruction)
      Where = S.instruction->getDebugLoc();
  if (!Where && F.getSubprogram())
    Where = DILocation::get(RT.C, 0, 0, F.getSubprogram());
  ColdBuilder.SetCurrentDebugLocation(Where);
  emitCold(ColdBuilder);
  joinLabels(Head, ColdEnd->getParent(), Before);
  Segment.clear();
  Cold.clear();
}

void Instrumenter::emitCold(Builder &B) {
  for (const Step &S : Segment) {
    Instruction *I = S.instruction;
    switch (S.kind) {
    case Kind::TakeArgs:
      emitTakeArgs(B);
      break;
    case Kind::TakeRet:
      emitTakeRet(B, *cast<CallBase>(I));
      break;
    case Kind::PassArgs: {
      auto *Call = cast<CallBase>(I);
      SmallVector<Value *, 8> Values(Call->args());
      emitPass(B, "pass_args", Call->getCalledOperand(), Values, emitPassByvals(B, *Call));
      emitPassVarargs(B, *Call);
      if (RT.isOutside(*Call))
        emitHandOver(B, *Call);
      break;
    }
    case Kind::VaStart:
      RT.call(B, "va_start", RT.Void,
              {B.CreateBitCast(cast<VAStartInst>(I)->getArgList(), RT.BytePtr),
               B.CreateBitCast(Varargs, RT.BytePtr)});
      break;
    case Kind::PassRet:
      emitPass(B, "pass_ret", &F, {I->getOperand(0)}, RT.NoLabel);
      break;
    case Kind::Terminator:
      Emitter.emitTerminator(B, *I);
      break;
    case Kind::Target:
      Emitter.emitTarget(B, cast<CallBase>(I)->getCalledOperand());
      break;
    case Kind::Lost:
      Emitter.lose(B, *I);
      break;
    case Kind::AsmWrites:
      for (const AsmMemory &M : memoryOfAssembly(*cast<CallBase>(I)))
        if (M.written)
          RT.call(B, "clear", RT.Void,
                  {asInt64(B, M.pointer), ConstantInt::get(RT.Int64, DL.getTypeStoreSize(M.type))});
      break;
    case Kind::Operation: {
      LabelList L = Emitter.emit(B, *I);
      if (isTracked(I))
        Cold[I] = std::move(L);
      break;
    }
    }
  }
}

void Instrumenter::emitTakeArgs(Builder &B) {
  Value *From = RT.call(B, "take_args", RT.BytePtr,
                        {B.CreateBitCast(&F, RT.BytePtr), ConstantInt::get(RT.Int32, ArgCount)});
  emitTakeByvals(B, From);
  if (Varargs)
    RT.call(B, "take_varargs", RT.Void, {From, B.CreateBitCast(Varargs, RT.BytePtr)});
  From = B.CreateBitCast(From, PointerType::get(RT.Int32, 0));
  Value *Any = RT.NoLabel;
  for (Argument &A : F.args()) {
    auto Slot = FirstArgSlot.find(&A);
    if (Slot == FirstArgSlot.end())
      continue;
    LabelList Out;
    for (unsigned K = 0; K < leafCount(&A); ++K) {
      Value *L = unchecked(
          B.CreateLoad(RT.Int32, B.CreateConstInBoundsGEP1_64(RT.Int32, From, Slot->second + K)));
      unchecked(B.CreateStore(L, B.CreateConstInBoundsGEP2_64(ArgSlots->getAllocatedType(),
                                                              ArgSlots, 0, Slot->second + K)));
      Any = B.CreateOr(Any, L);
      Out.push_back(L);
    }
    Cold[&A] = std::move(Out);
  }
  AnyArg = Any; // joined with 0 when the segment ends
}

void Instrumenter::emitTakeByvals(Builder &B, Value *From) {
  uint32_t Index = 0;
  for (Argument &A : F.args())
    if (A.hasByValAttr())
      RT.call(B, "take_byval", RT.Void,
              {From, ConstantInt::get(RT.Int32, Index++), asInt64(B, &A),
               ConstantInt::get(RT.Int64, byvalSize(DL, A.getParamByValType()))});
}

// Says that a function that may not carry labels gets one of its arguments.
void Instrumenter::emitHandOver(Builder &B, CallBase &Call) {
  Value *Any = RT.NoLabel;
  for (const Use &A : Call.args())
    for (unsigned K = 0; K < leafCount(A.get()); ++K)
      Any = B.CreateOr(Any, labelOf(B, A.get(), K));
  RT.call(B, "hand_over", RT.Void,
          {Any, RT.watchOf(Call), B.CreateBitCast(Call.getCalledOperand(), RT.BytePtr),
           RT.lostPlace(Call)});
}

// The same for memory that it may read. Only recorded runs look there:
//
//   %w = load i8, (watch of @callee)
//   br (%w != 0), %look, %call !unlikely
// look:
//   call __sf_hand_over_memory(watch, @callee, place, p, end of p's object, ...)
void Instrumenter::emitWatch(CallBase &Call, ArrayRef<Value *> Pointers) {
  Builder Hot(&Call);
  Hot.SetCurrentDebugLocation(DebugLoc());
  Value *Wanted = unchecked(Hot.CreateLoad(RT.Int8, RT.watchOf(Call)));
  Instruction *LookEnd =
      SplitBlockAndInsertIfThen(Hot.CreateICmpNE(Wanted, ConstantInt::get(RT.Int8, 0)), &Call,
                                false, MDBuilder(RT.C).createBranchWeights(1, 1u << 20));
  Builder B(LookEnd);
  B.SetCurrentDebugLocation(Call.getDebugLoc());
  if (!Call.getDebugLoc() && F.getSubprogram())
    B.SetCurrentDebugLocation(DILocation::get(RT.C, 0, 0, F.getSubprogram()));
  SmallVector<Value *, 9> Arguments{
      RT.watchOf(Call), B.CreateBitCast(Call.getCalledOperand(), RT.BytePtr), RT.lostPlace(Call)};
  for (unsigned I = 0; I < OutsidePointersMax; ++I) {
    Value *Start = ConstantInt::get(RT.Int64, 0), *End = Start;
    if (I < Pointers.size()) {
      Start = B.CreatePtrToInt(Pointers[I], RT.Int64);
      auto *Object = const_cast<Value *>(getUnderlyingObject(Pointers[I]));
      if (uint64_t Size = sizeOfObject(*Object, DL))
        End = B.CreateAdd(B.CreatePtrToInt(Object, RT.Int64), ConstantInt::get(RT.Int64, Size));
    }
    Arguments.append({Start, End});
  }
  RT.call(B, "hand_over_memory", RT.Void, Arguments);
}

// Classifies variadic arguments, up to the first one that is neither an integer
// nor a floating-point number: those are passed in memory in ways of their own.
void Instrumenter::emitPassVarargs(Builder &B, CallBase &Call) {
  FunctionType *Type = Call.getFunctionType();
  if (!Type->isVarArg())
    return;
  unsigned First = 0, Count = 0;
  uint64_t Classes = 0;
  for (unsigned I = 0; I < Type->getNumParams(); ++I)
    First += leafCount(Call.getArgOperand(I));
  for (unsigned I = Type->getNumParams(); I < Call.arg_size() && Count < SF_VARARGS_MAX; ++I) {
    Value *V = Call.getArgOperand(I);
    llvm::Type *T = V->getType();
    bool Sse = T->isDoubleTy() || T->isFloatTy();
    if (T->isX86_FP80Ty() && Count + 2 <= SF_VARARGS_MAX) {
      Classes |= uint64_t(SF_VARARG_X87_LOW | SF_VARARG_X87_HIGH << 2) << (2 * Count);
      Count += 2;
      continue;
    }
    if (Call.isByValArgument(I) || leafCount(V) != 1 ||
        !(Sse || T->isIntegerTy() || T->isPointerTy()))
      break;
    Classes |= uint64_t(Sse ? SF_VARARG_SSE : SF_VARARG_INTEGER) << (2 * Count++);
  }
  RT.call(B, "pass_varargs", RT.Void,
          {ConstantInt::get(RT.Int32, First), ConstantInt::get(RT.Int32, Count),
           ConstantInt::get(RT.Int64, Classes)});
}

Value *Instrumenter::emitPassByvals(Builder &B, CallBase &Call) {
  uint32_t Index = 0;
  Value *Any = RT.NoLabel;
  for (unsigned I = 0; I < Call.arg_size(); ++I)
    if (Call.isByValArgument(I)) {
      uint64_t Size = byvalSize(DL, Call.getParamByValType(I));
      Any = B.CreateOr(
          Any, RT.call(B, "pass_byval", RT.Int32,
                       {ConstantInt::get(RT.Int32, Index++), asInt64(B, Call.getArgOperand(I)),
                        ConstantInt::get(RT.Int64, Size)}));
    }
  return Any;
}

void Instrumenter::emitTakeRet(Builder &B, CallBase &Call) {
  Value *Callee = B.CreateBitCast(Call.getCalledOperand(), RT.BytePtr);
  unsigned Count = std::min<unsigned>(leafCount(&Call), SF_CALL_LABELS);
  Value *Token = B.CreateIntToPtr(RetTokens[&Call], RT.BytePtr);
  Value *From =
      RT.call(B, "take_ret", RT.BytePtr, {Token, Callee, ConstantInt::get(RT.Int32, Count)});
  From = B.CreateBitCast(From, PointerType::get(RT.Int32, 0));
  LabelList Out;
  for (unsigned K = 0; K < Count; ++K)
    Out.push_back(
        unchecked(B.CreateLoad(RT.Int32, B.CreateConstInBoundsGEP1_64(RT.Int32, From, K))));
  Cold[&Call] = std::move(Out);
}

// Writes the labels of a call's arguments or of a return into the record.
void Instrumenter::emitPass(Builder &B, StringRef Name, Value *Callee, ArrayRef<Value *> Values,
                            Value *Any) {
  LabelList Passed;
  for (Value *V : Values)
    for (unsigned K = 0; K < leafCount(V) && Passed.size() < SF_CALL_LABELS; ++K) {
      Passed.push_back(labelOf(B, V, K));
      Any = B.CreateOr(Any, Passed.back());
    }
  Value *To = RT.call(
      B, Name, RT.BytePtr,
      {B.CreateBitCast(Callee, RT.BytePtr), ConstantInt::get(RT.Int32, Passed.size()), Any});
  To = B.CreateBitCast(To, PointerType::get(RT.Int32, 0));
  for (unsigned K = 0; K < Passed.size(); ++K)
    unchecked(B.CreateStore(Passed[K], B.CreateConstInBoundsGEP1_64(RT.Int32, To, K)));
}

// Labels that are used behind the segment become phis: none, or the cold one.
void Instrumenter::joinLabels(BasicBlock *Head, BasicBlock *ColdBlock, Instruction &Before) {
  SmallPtrSet<const User *, 16> Inside;
  for (const Step &S : Segment)
    if (S.instruction && S.kind != Kind::TakeRet)
      Inside.insert(S.instruction);
  Instruction *At = &Before.getParent()->front();
  auto Join = [&](Value *L) -> Value * {
    if (isa<Constant>(L))
      return L;
    auto *Phi = PHINode::Create(RT.Int32, 2, "", At);
    Phi->addIncoming(RT.NoLabel, Head);
    Phi->addIncoming(L, ColdBlock);
    OurPhis.push_back(Phi);
    return Phi;
  };
  for (const Step &S : Segment) {
    if (S.kind == Kind::TakeArgs) {
      AnyArg = Join(AnyArg);
      continue;
    }
    if ((S.kind != Kind::Operation && S.kind != Kind::TakeRet) || !isTracked(S.instruction))
      continue;
    bool UsedBehind =
        any_of(S.instruction->users(), [&](const User *U) { return !Inside.count(U); });
    LabelList Out;
    for (Value *L : Cold[S.instruction])
      Out.push_back(UsedBehind ? Join(L) : RT.NoLabel);
    Labels[S.instruction] = std::move(Out);
  }
}

} // namespace symfleet
