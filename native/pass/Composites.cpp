// Label operations of instructions that stand for several: x86's vector
// intrinsics and inline assembly.
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
    // The text does not write it, so it holds afterwards what it held before.
    Type *Number = B.getIntNTy(Bits);
    Value *Typed = B.CreateBitCast(V, PointerType::get(Number, 0));
    Value *Held = asInt64(B, unchecked(B.CreateAlignedLoad(Number, Typed, Align(1))));
    Value *L =
        RT.call(B, "load", RT.Int32,
                {B.CreatePtrToInt(V, RT.Int64), packed(Bits), Label(B, V, 0), Held, nextSite()});
    return {L, Held, Bits};
  };
  SmallVector<Term, 4> Outputs;
  followAssembly(Call, T, Input, Outputs);
  for (const Term &Each : Outputs)
    Out.push_back(Each.label);
  return Out;
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
}

} // namespace symfleet
