// Label operations of instructions that stand for several: x86's vector
// intrinsics and inline assembly.
#include "AssemblyStrings.h"
#include "InlineAssembly.h"
#include "Operations.h"
#include "VectorIntrinsics.h"

using namespace llvm;

namespace symfleet {

SmallVector<Term, 16> OperationEmitter::termsOf(Builder &B, Value *V) {
  SmallVector<Term, 16> Out;
  for (const Leaf &L : leavesOf(V->getType(), DL))
    Out.push_back({Label(B, V, unsigned(Out.size())), leafValue(B, V, L), L.bits});
  return Out;
}

LabelList OperationEmitter::vectorIntrinsic(Builder &B, IntrinsicInst &I) {
  Terms T(RT, B);
  auto Lanes = [&](unsigned K) { return termsOf(B, I.getArgOperand(K)); };
  LabelList Out;
  for (const Term &Each : followVectorIntrinsic(I, T, Lanes))
    Out.push_back(Each.label);
  return Out;
}

LabelList OperationEmitter::assembly(Builder &B, CallBase &Call) {
  LabelList Out;
  if (std::optional<AsmString> String = stringOfAssembly(Call)) {
    copyOrFill(B, *String);
    if (!Call.getType()->isVoidTy())
      Out.append(leavesOf(Call.getType(), DL).size(), RT.NoLabel);
    return Out;
  }
  if (isEmptyAssembly(Call)) {
    SmallVector<int, 4> Tied = tiedInputs(Call);
    auto *Many = dyn_cast<StructType>(Call.getType());
    for (unsigned K = 0; K < Tied.size(); ++K) {
      Type *Part = Many ? Many->getElementType(K) : Call.getType();
      unsigned Count = unsigned(leavesOf(Part, DL).size());
      LabelList Labels(Count, RT.NoLabel);
      if (Tied[K] >= 0 && Call.getArgOperand(unsigned(Tied[K]))->getType() == Part)
        Labels = passThrough(B, Call.getArgOperand(unsigned(Tied[K])), 0, Count);
      Out.append(Labels.begin(), Labels.end());
    }
    return Out;
  }
  Terms T(RT, B);
  auto Input = [&](unsigned Argument, bool Memory, unsigned Bits) -> Term {
    Value *V = Call.getArgOperand(Argument);
    if (!Memory)
      return {Label(B, V, 0), asInt64(B, V), Bits};
    Value *Before = HeldBefore.lookup({&Call, Argument});
    Value *Held = asInt64(B, Before ? Before : loadedFrom(B, V, Bits));
    // What is overwritten is no table any more.
    Value *Where = Before ? RT.NoLabel : Label(B, V, 0);
    Value *L = RT.call(B, "load", RT.Int32,
                       {B.CreatePtrToInt(V, RT.Int64), packed(Bits), Where, Held, nextSite()});
    return {L, Held, Bits};
  };
  auto Result = [&](unsigned Number, unsigned Bits) -> Term {
    Value *V = Call.getType()->isStructTy() ? B.CreateExtractValue(&Call, Number) : &Call;
    return {RT.NoLabel, asInt64(B, V), Bits};
  };
  SmallVector<AsmMemory, 4> Touched = memoryOfAssembly(Call);
  if (any_of(Touched, [](const AsmMemory &M) { return M.written; }))
    for (const AsmMemory &M : Touched)
      concretise(B, M.pointer);
  AsmOutcome Outcome;
  followAssembly(Call, T, Input, Result, Outcome);
  for (const AsmStore &Each : Outcome.stores) {
    Value *At = B.CreatePtrToInt(Call.getArgOperand(Each.argument), RT.Int64);
    RT.call(B, "store", RT.Void,
            {At, packed(Each.term.bits), RT.NoLabel, Each.term.label, Each.term.value, number(0)});
  }
  for (const Term &Each : Outcome.results)
    Out.push_back(Each.label);
  return Out;
}

// Stands before the instruction, as a copy by the intrinsic does.
void OperationEmitter::copyOrFill(Builder &B, const AsmString &S) {
  Value *To = asInt64(B, S.to), *Size = B.CreateMul(asInt64(B, S.count), number(S.unit));
  concretise(B, S.to);
  Value *Length = RT.NoLabel;
  if (S.unit == 1)
    Length = lengthLabel(B, S.count);
  else
    concretise(B, S.count);
  if (S.value) {
    Terms T(RT, B);
    const unsigned Bits = S.value->getType()->getIntegerBitWidth();
    Term Byte = T.extract({Label(B, S.value, 0), asInt64(B, S.value), Bits}, 0, 8);
    RT.call(B, "fill", RT.Void, {To, Byte.value, Size, Byte.label, Length, nextSite()});
    return;
  }
  concretise(B, S.from);
  // Onto its own source it repeats what it has copied: nothing is known then.
  Value *From = asInt64(B, S.from);
  Value *Repeats =
      B.CreateAnd(B.CreateICmpNE(To, From), B.CreateICmpULT(B.CreateSub(To, From), Size));
  Value *Cleared = B.CreateSelect(Repeats, Size, number(0));
  Value *Copied = B.CreateSelect(Repeats, number(0), Size);
  RT.call(B, "clear", RT.Void, {To, Cleared});
  RT.call(B, "copy", RT.Void,
          {To, From, Copied, B.CreateSelect(Repeats, RT.NoLabel, Length), nextSite()});
}

Value *OperationEmitter::loadedFrom(Builder &B, Value *Pointer, unsigned Bits) {
  Type *Number = B.getIntNTy(Bits);
  Value *Typed = B.CreateBitCast(Pointer, PointerType::get(Number, 0));
  return unchecked(B.CreateAlignedLoad(Number, Typed, Align(1)));
}

// Memory that the text reads, as it is before the text writes.
void OperationEmitter::holdMemory(CallBase &Call) {
  Builder B(&Call);
  B.SetCurrentDebugLocation(DebugLoc());
  for (const AsmMemory &M : memoryOfAssembly(Call)) {
    const unsigned Bits = bitsOfAssembly(M.type, DL);
    if (!M.written && Bits)
      HeldBefore[{&Call, M.argument}] = loadedFrom(B, M.pointer, Bits);
  }
}

// What the engine does not understand keeps the operands it has seen.
void OperationEmitter::lose(Builder &B, Instruction &I) {
  Value *Any = RT.NoLabel;
  SmallVector<Term, 8> Lost;
  // What is called is no value: assembly has no address.
  auto *Call = dyn_cast<CallBase>(&I);
  for (const Use &V : Call ? Call->args() : I.operands())
    for (const Term &Each : termsOf(B, V.get()))
      if (!isZero(Each.label)) {
        Any = B.CreateOr(Any, Each.label);
        Lost.push_back(Each);
      }
  RT.call(B, "unmodelled", RT.Void, {Any, RT.lostPlace(I)});
  Constant *Site = nextSite();
  for (const Term &Each : Lost)
    RT.call(B, "fact", RT.Void, {Each.label, Each.value, Site});
  if (!Call || !Call->isInlineAsm())
    return;
  for (const AsmMemory &M : memoryOfAssembly(*Call))
    if (!M.written)
      RT.call(B, "unmodelled_memory", RT.Void,
              {asInt64(B, M.pointer), number(DL.getTypeStoreSize(M.type)), RT.lostPlace(I), Site});
}

} // namespace symfleet
