#include "Instrumenter.h"
#include "AssemblyStrings.h"
#include "InlineAssembly.h"
#include "OutsideCalls.h"

#include "symfleet/calls.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace symfleet {

Instrumenter::Instrumenter(Runtime &RT, Function &F)
    : RT(RT), F(F), DL(RT.M.getDataLayout()),
      Emitter(RT, F, [this](Builder &B, Value *V, unsigned L) { return labelOf(B, V, L); }) {}

unsigned Instrumenter::leafCount(Value *V) const {
  return unsigned(leavesOf(V->getType(), DL).size());
}

void Instrumenter::collect() {
  // The normal way out of an invoke needs a place of its own for the result.
  SmallVector<InvokeInst *, 8> Invokes;
  for (BasicBlock &BB : F)
    if (auto *I = dyn_cast<InvokeInst>(BB.getTerminator()))
      Invokes.push_back(I);
  for (InvokeInst *I : Invokes)
    if (!I->getNormalDest()->getSinglePredecessor() || isa<PHINode>(I->getNormalDest()->front()))
      SplitEdge(I->getParent(), I->getNormalDest());

  ReversePostOrderTraversal<Function *> Order(&F);
  for (BasicBlock *BB : Order) {
    Block Entry{BB, {}};
    for (Instruction &I : *BB)
      if (!I.isDebugOrPseudoInst() && !I.isLifetimeStartOrEnd())
        Entry.instructions.push_back(&I);
    Blocks.push_back(std::move(Entry));
  }
}

// ---- Tracking

bool Instrumenter::anyTracked(const User &U) const {
  return any_of(U.operands(), [&](const Use &V) { return isTracked(V.get()); });
}

void Instrumenter::track() {
  for (Argument &A : F.args())
    if (leafCount(&A) && !A.hasByValAttr() && !A.hasStructRetAttr() && !A.use_empty())
      Tracked.insert(&A);
  bool Changed = true;
  while (Changed) {
    Changed = false;
    for (Block &Each : Blocks)
      for (Instruction *I : Each.instructions) {
        if (I->getType()->isVoidTy() || isTracked(I) || !leafCount(I))
          continue;
        Effect E = effectOf(*I, DL);
        if (E == Effect::Reads || E == Effect::Calls || (E == Effect::Computes && anyTracked(*I))) {
          Tracked.insert(I);
          Changed = true;
        }
      }
  }
}

// ---- Walk

void Instrumenter::createPhis() {
  for (Block &Each : Blocks)
    for (Instruction *I : Each.instructions) {
      auto *Phi = dyn_cast<PHINode>(I);
      if (!Phi || !isTracked(Phi))
        continue;
      LabelList &Out = Labels[Phi];
      for (unsigned K = 0; K < leafCount(Phi); ++K) {
        auto *L = PHINode::Create(RT.Int32, Phi->getNumIncomingValues(), "", Phi);
        Out.push_back(L);
        OurPhis.push_back(L);
      }
      OriginalPhis.emplace_back(Phi, 0);
    }
}

void Instrumenter::fillPhis() {
  for (auto &[Phi, Unused] : OriginalPhis)
    for (unsigned K = 0; K < leafCount(Phi); ++K) {
      auto *L = cast<PHINode>(Labels[Phi][K]);
      for (unsigned In = 0; In < Phi->getNumIncomingValues(); ++In) {
        BasicBlock *From = Phi->getIncomingBlock(In);
        int Earlier = L->getBasicBlockIndex(From); // a switch comes in more than once
        if (Earlier >= 0) {
          L->addIncoming(L->getIncomingValue(unsigned(Earlier)), From);
          continue;
        }
        Builder B(From->getTerminator());
        B.SetCurrentDebugLocation(DebugLoc());
        L->addIncoming(labelOf(B, Phi->getIncomingValue(In), K), From);
      }
    }
}

void Instrumenter::removeUnusedPhis() {
  SmallPtrSet<PHINode *, 32> Ours(OurPhis.begin(), OurPhis.end()), Needed;
  SmallVector<PHINode *, 32> Work;
  for (PHINode *P : OurPhis)
    if (any_of(P->users(),
               [&](User *U) {
                 auto *Other = dyn_cast<PHINode>(U);
                 return !Other || !Ours.count(Other);
               }) &&
        Needed.insert(P).second)
      Work.push_back(P);
  while (!Work.empty())
    for (Value *V : Work.pop_back_val()->incoming_values())
      if (auto *P = dyn_cast<PHINode>(V); P && Ours.count(P) && Needed.insert(P).second)
        Work.push_back(P);
  for (PHINode *P : OurPhis)
    if (!Needed.count(P))
      P->replaceAllUsesWith(UndefValue::get(RT.Int32));
  for (PHINode *P : OurPhis)
    if (!Needed.count(P))
      P->eraseFromParent();
}

void Instrumenter::run() {
  track();
  createPhis();

  Instruction *Start = &*F.getEntryBlock().getFirstInsertionPt();
  while (isa<AllocaInst>(Start))
    Start = Start->getNextNode();
  for (Argument &A : F.args())
    if (isTracked(&A) && ArgCount + leafCount(&A) <= SF_CALL_LABELS) {
      FirstArgSlot[&A] = ArgCount;
      ArgCount += leafCount(&A);
    } else if (leafCount(&A)) { // callers count every argument
      ArgCount = std::min<unsigned>(ArgCount + leafCount(&A), SF_CALL_LABELS);
    }
  Builder B(Start);
  B.SetCurrentDebugLocation(DebugLoc());
  bool HasByval = any_of(F.args(), [](const Argument &A) { return A.hasByValAttr(); });
  bool HasVaStart =
      F.isVarArg() && any_of(Blocks, [](const Block &Each) {
        return any_of(Each.instructions, [](Instruction *I) { return isa<VAStartInst>(I); });
      });
  if (HasVaStart) {
    Varargs = new AllocaInst(ArrayType::get(RT.Int64, sizeof(sf_varargs) / 8), 0, "sf.varargs",
                             &F.getEntryBlock().front());
    unchecked(
        B.CreateStore(ConstantInt::get(RT.Int64, 0),
                      B.CreateConstInBoundsGEP2_64(Varargs->getAllocatedType(), Varargs, 0, 0)));
  }
  if (!FirstArgSlot.empty() || HasByval || HasVaStart) {
    ArgSlots = new AllocaInst(ArrayType::get(RT.Int32, ArgCount), 0, "sf.args",
                              &F.getEntryBlock().front());
    ArgToken = unchecked(B.CreateLoad(RT.Int64, RT.tlsField(SF_TLS_ARG_TOKEN, RT.Int64)));
    Segment.push_back({Kind::TakeArgs, nullptr});
  }

  for (Block &Each : Blocks)
    for (Instruction *I : Each.instructions)
      visit(*I);
  fillPhis();
  removeUnusedPhis();
}

void Instrumenter::add(Kind K, Instruction &I) { Segment.push_back({K, &I}); }

void Instrumenter::visit(Instruction &I) {
  if (auto *Call = dyn_cast<CallBase>(&I); Call && !isa<IntrinsicInst>(I)) {
    visitCall(*Call);
    return;
  }
  if (auto *Return = dyn_cast<ReturnInst>(&I)) {
    visitReturn(*Return);
    return;
  }
  if (I.isTerminator()) {
    Value *Decides = nullptr;
    if (auto *Branch = dyn_cast<BranchInst>(&I))
      Decides = Branch->isConditional() ? Branch->getCondition() : nullptr;
    else if (isa<SwitchInst>(I) || isa<IndirectBrInst>(I))
      Decides = I.getOperand(0);
    if (Decides && isTracked(Decides))
      add(Kind::Terminator, I);
    flush(I);
    return;
  }
  if (isa<PHINode>(I))
    return;
  if (isa<VAStartInst>(I) && Varargs) {
    add(Kind::VaStart, I);
    flush(*I.getNextNode());
    return;
  }
  if (writesMemoryLabels(I)) {
    // A table is read when its segment is flushed: before memory changes.
    bool PendingTable = any_of(Segment, [&](const Step &S) {
      auto *L = S.instruction ? dyn_cast<LoadInst>(S.instruction) : nullptr;
      return L && isTracked(L->getPointerOperand());
    });
    if (PendingTable)
      flush(I);
    // How long it is decides what was there before.
    auto *Mem = dyn_cast<MemIntrinsic>(&I);
    bool Sized = Mem && isTracked(Mem->getLength());
    if (Sized)
      flush(I);
    add(Kind::Operation, I);
    if (Sized)
      flush(I);
    return;
  }
  switch (effectOf(I, DL)) {
  case Effect::Computes:
  case Effect::Reads:
    if (isTracked(&I))
      add(Kind::Operation, I);
    break;
  case Effect::Unmodelled:
    noteLost(I);
    break;
  case Effect::Calls:
  case Effect::None:
    break;
  }
}

void Instrumenter::noteLost(Instruction &I) {
  auto *Assembly = dyn_cast<CallBase>(&I);
  bool Reads = Assembly && Assembly->isInlineAsm() &&
               any_of(memoryOfAssembly(*Assembly), [](const AsmMemory &M) { return !M.written; });
  if (!anyTracked(I) && !Reads)
    return;
  add(Kind::Lost, I);
  std::string What = I.getOpcodeName();
  if (auto *Known = dyn_cast<IntrinsicInst>(&I))
    What = Known->getCalledFunction()->getName().str();
  else if (auto *Call = dyn_cast<CallBase>(&I); Call && Call->isInlineAsm())
    What = "asm";
  RT.noteLost(I, placeOf(I, What));
}

LostOperation Instrumenter::placeOf(const Instruction &I, StringRef What) const {
  LostOperation Place{What.str(), RT.SourceName, F.getName().str(), 0};
  if (const DebugLoc &At = I.getDebugLoc()) {
    Place.line = At.getLine();
    Place.file = At->getFilename().str();
  }
  return Place;
}

// Nothing may stand behind a call that must be a tail call: its result is the
// caller's. A chain of such calls keeps the name of the first.
void Instrumenter::noteTailCall(CallBase &Call) {
  Builder B(&Call);
  B.SetCurrentDebugLocation(DebugLoc());
  Constant *From = RT.tlsField(offsetof(sf_tls, tail_from), RT.Int64);
  Constant *To = RT.tlsField(offsetof(sf_tls, tail_to), RT.Int64);
  Value *Self = B.CreatePtrToInt(&F, RT.Int64);
  Value *First = unchecked(B.CreateLoad(RT.Int64, From));
  Value *Before = unchecked(B.CreateLoad(RT.Int64, To));
  Value *Goes = B.CreateAnd(B.CreateICmpEQ(Before, Self),
                            B.CreateICmpNE(First, ConstantInt::get(RT.Int64, 0)));
  unchecked(B.CreateStore(B.CreateSelect(Goes, First, Self), From));
  unchecked(B.CreateStore(B.CreatePtrToInt(Call.getCalledOperand(), RT.Int64), To));
}

// What it writes is seen behind it: it may be any memory, unless it is followed.
void Instrumenter::visitAssembly(CallBase &Call) {
  bool Modelled = effectOf(Call, DL) != Effect::Unmodelled;
  if (!Modelled)
    noteLost(Call);
  flush(Call);
  if (stringOfAssembly(Call)) { // how long it is decides what was there before
    add(Kind::Operation, Call);
    flush(Call);
    return;
  }
  bool Writes = !isEmptyAssembly(Call) && isa<CallInst>(Call) &&
                any_of(memoryOfAssembly(Call), [](const AsmMemory &M) { return M.written; });
  if (Modelled && Writes)
    Emitter.holdMemory(Call);
  if (Modelled && (Writes || isTracked(&Call)))
    add(Kind::Operation, Call);
  else if (Writes)
    add(Kind::AsmWrites, Call);
}

void Instrumenter::visitCall(CallBase &Call) {
  if (Call.isInlineAsm()) {
    visitAssembly(Call);
    return;
  }
  if (isMathCall(Call, DL)) { // nothing of ours happens in there
    if (floatOperationOf(Call, DL)->stored)
      flush(Call);
    if (isTracked(&Call))
      add(Kind::Operation, Call);
    return;
  }
  bool Passes = any_of(Call.args(), [&](const Use &A) {
    return isTracked(A.get()) || Call.isByValArgument(Call.getArgOperandNo(&A));
  });
  if (isTracked(Call.getCalledOperand()))
    add(Kind::Target, Call);
  std::optional<OutsideCall> Outside = outsideCall(Call, Passes);
  if (Outside)
    RT.noteOutside(Call, *Outside, placeOf(Call, Outside->callee->getName()));
  if (Passes)
    add(Kind::PassArgs, Call);
  flush(Call);
  if (Outside && !Outside->pointers.empty())
    emitWatch(Call, Outside->pointers);
  const Function *Callee = Call.getCalledFunction();
  if (Callee && Callee->getName().substr(0, 11) == "__sf_model_") {
    Builder B(&Call);
    unchecked(B.CreateStore(Emitter.nextSite(), RT.tlsField(SF_TLS_SITE, RT.Int64)));
  }
  if (Call.isMustTailCall() && isTracked(&Call))
    noteTailCall(Call);
  if (!isTracked(&Call) || Call.use_empty() || Call.isMustTailCall())
    return;
  Instruction *After = Call.getNextNode();
  if (auto *Invoke = dyn_cast<InvokeInst>(&Call))
    After = &*Invoke->getNormalDest()->getFirstInsertionPt();
  else if (isa<CallBrInst>(Call))
    return;
  Builder B(After);
  B.SetCurrentDebugLocation(DebugLoc());
  RetTokens[&Call] = unchecked(B.CreateLoad(RT.Int64, RT.tlsField(SF_TLS_RET_TOKEN, RT.Int64)));
  if (isa<InvokeInst>(Call)) {
    // Read at once: the segment of the way out belongs to another block.
    add(Kind::TakeRet, Call);
    flush(*After);
    return;
  }
  add(Kind::TakeRet, Call);
}

void Instrumenter::visitReturn(ReturnInst &Return) {
  Value *V = Return.getReturnValue();
  auto *Before = dyn_cast_or_null<CallInst>(Return.getPrevNode());
  if (Before && Before->isMustTailCall()) {
    Segment.clear(); // nothing may stand between the two
    return;
  }
  if (V && isTracked(V)) {
    Builder B(&Return);
    B.SetCurrentDebugLocation(DebugLoc());
    unchecked(
        B.CreateStore(ConstantInt::get(RT.Int64, 0), RT.tlsField(SF_TLS_RET_TOKEN, RT.Int64)));
    add(Kind::PassRet, Return);
  }
  flush(Return);
}

} // namespace symfleet
