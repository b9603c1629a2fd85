#include "IfConversion.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace symfleet {

namespace {

// Of both arms; longer ones are no longer what an optimiser would convert.
constexpr unsigned InstructionsMax = 24;

// A variable that only this function's loads and stores touch.
bool isPrivate(const AllocaInst &A) {
  return A.isStaticAlloca() && all_of(A.users(), [&](const User *U) {
           if (auto *L = dyn_cast<LoadInst>(U))
             return L->isSimple();
           if (auto *S = dyn_cast<StoreInst>(U))
             return S->isSimple() && S->getValueOperand() != &A;
           return false;
         });
}

// The variable of a load or a store, if it is one of an integer's own.
AllocaInst *variableOf(Value *Pointer, Type *T) {
  auto *A = dyn_cast<AllocaInst>(Pointer);
  return A && T->isIntegerTy() && A->getAllocatedType() == T && isPrivate(*A) ? A : nullptr;
}

// Whether it may be computed although its value is not asked for.
bool isHarmless(const Instruction &I) {
  if (I.isIntDivRem())
    return false;
  return isa<BinaryOperator>(I)
             ? I.getType()->isIntegerTy()
             : isa<ICmpInst>(I) || (isa<SelectInst>(I) && I.getType()->isIntegerTy()) ||
                   (isa<CastInst>(I) && I.getType()->isIntegerTy() &&
                    I.getOperand(0)->getType()->isIntegerTy());
}

// One way from the branch to where both meet; without a block of its own it
// changes nothing.
class Arm {
public:
  explicit Arm(BasicBlock *Own) : Block(Own) {}

  // Whether all that the block does can be done before the branch.
  bool read();
  unsigned size() const {
    return count_if(Moved, [](auto *I) { return !I->isDebugOrPseudoInst(); });
  }
  const MapVector<AllocaInst *, Value *> &stored() const { return Last; }
  // What the variable holds at the end; null if it is not changed.
  Value *value(AllocaInst *A) const { return Last.lookup(A); }
  void moveBefore(Instruction &At) {
    for (auto &[Load, Value] : Known)
      Load->replaceAllUsesWith(Value);
    for (Instruction *I : Moved)
#if LLVM_VERSION_MAJOR >= 18
      I->moveBeforePreserving(&At); // with what is said of variables
#else
      I->moveBefore(&At);
#endif
  }

private:
  BasicBlock *Block;
  SmallVector<Instruction *, 16> Moved;
  // Loads of what this arm has stored.
  SmallVector<std::pair<Instruction *, Value *>, 4> Known;
  MapVector<AllocaInst *, Value *> Last;
};

bool Arm::read() {
  if (!Block)
    return true;
  DenseMap<Value *, Value *> Same;
  auto Through = [&](Value *V) {
    auto It = Same.find(V);
    return It == Same.end() ? V : It->second;
  };
  for (Instruction &I : *Block) {
    if (I.isTerminator())
      continue;
    if (I.isDebugOrPseudoInst()) {
      Moved.push_back(&I);
      continue;
    }
    if (auto *S = dyn_cast<StoreInst>(&I)) {
      AllocaInst *A = variableOf(S->getPointerOperand(), S->getValueOperand()->getType());
      if (!A)
        return false;
      Last[A] = Through(S->getValueOperand());
      continue;
    }
    if (auto *L = dyn_cast<LoadInst>(&I)) {
      AllocaInst *A = variableOf(L->getPointerOperand(), L->getType());
      if (!A)
        return false;
      if (Value *Stored = value(A)) {
        Same[L] = Stored;
        Known.push_back({L, Stored});
        continue;
      }
    } else if (!isHarmless(I)) {
      return false;
    }
    Moved.push_back(&I);
  }
  return true;
}

// The block between a branch and where its ways meet; null if there is none.
BasicBlock *armBefore(BasicBlock *Meet, BasicBlock *Way) { return Way == Meet ? nullptr : Way; }

BasicBlock *onlySuccessorOfArm(BasicBlock *Way, BasicBlock *From) {
  auto *Ends = dyn_cast<BranchInst>(Way->getTerminator());
  bool Single = Way->getSinglePredecessor() == From && Ends && Ends->isUnconditional();
  return Single && !isa<PHINode>(Way->front()) ? Ends->getSuccessor(0) : nullptr;
}

// Where both ways of a branch meet, at most one block behind it.
BasicBlock *meetingOf(BranchInst &Branch) {
  BasicBlock *From = Branch.getParent();
  BasicBlock *Then = Branch.getSuccessor(0), *Else = Branch.getSuccessor(1);
  if (Then == Else)
    return nullptr;
  BasicBlock *AfterThen = onlySuccessorOfArm(Then, From);
  BasicBlock *AfterElse = onlySuccessorOfArm(Else, From);
  BasicBlock *Meet = AfterThen && AfterThen == AfterElse ? AfterThen
                     : AfterThen == Else                 ? Else
                     : AfterElse == Then                 ? Then
                                                         : nullptr;
  return Meet == From ? nullptr : Meet;
}

// An "and" or "or" of the language has a value of one bit: it stays a branch,
// which is what it was written as.
bool canChoose(const PHINode &P) {
  return P.getType()->isIntegerTy() && !P.getType()->isIntegerTy(1);
}

bool convert(BranchInst &Branch) {
  BasicBlock *From = Branch.getParent(), *Meet = meetingOf(Branch);
  if (!Meet || isa<Constant>(Branch.getCondition()))
    return false;
  BasicBlock *ThenBlock = armBefore(Meet, Branch.getSuccessor(0));
  BasicBlock *ElseBlock = armBefore(Meet, Branch.getSuccessor(1));
  Arm Then(ThenBlock), Else(ElseBlock);
  if (!Then.read() || !Else.read() || Then.size() + Else.size() > InstructionsMax)
    return false;
  if (!all_of(Meet->phis(), canChoose))
    return false;
  if (Then.stored().empty() && Else.stored().empty() && Meet->phis().empty())
    return false;

  Then.moveBefore(Branch);
  Else.moveBefore(Branch);
  IRBuilder<> B(&Branch);
  Value *Decides = Branch.getCondition();
  MapVector<AllocaInst *, Value *> Variables(Then.stored());
  for (auto &[A, _] : Else.stored())
    Variables.insert({A, nullptr});
  for (auto &[A, _] : Variables) {
    Value *T = Then.value(A), *E = Else.value(A);
    Value *Before = T && E ? nullptr : B.CreateLoad(A->getAllocatedType(), A);
    B.CreateStore(B.CreateSelect(Decides, T ? T : Before, E ? E : Before), A);
  }
  BasicBlock *ThenEnd = ThenBlock ? ThenBlock : From, *ElseEnd = ElseBlock ? ElseBlock : From;
  for (PHINode &P : Meet->phis()) {
    Value *T = P.getIncomingValueForBlock(ThenEnd), *E = P.getIncomingValueForBlock(ElseEnd);
    Value *Chosen = T == E ? T : B.CreateSelect(Decides, T, E);
    if (ThenEnd == From || ElseEnd == From)
      P.removeIncomingValue(From, false);
    P.addIncoming(Chosen, From); // an arm's own goes with its block
  }
  B.CreateBr(Meet);
  Branch.eraseFromParent();
  for (BasicBlock *Arm : {ThenBlock, ElseBlock})
    if (Arm)
      DeleteDeadBlock(Arm);
  return true;
}

} // namespace

void convertIfs(Function &F) {
  // At higher levels it has been done; and where a call returns twice, what a
  // variable holds depends on when it was stored.
  if (!F.hasOptNone() || F.callsFunctionThatReturnsTwice())
    return;
  // Inner ones first: those around them have smaller arms then.
  for (bool Again = true; Again;) {
    Again = false;
    SmallVector<WeakTrackingVH, 32> Branches;
    for (BasicBlock *BB : post_order(&F))
      if (auto *Branch = dyn_cast<BranchInst>(BB->getTerminator());
          Branch && Branch->isConditional())
        Branches.push_back(Branch);
    for (WeakTrackingVH &Each : Branches)
      if (auto *Branch = dyn_cast_or_null<BranchInst>(Each)) {
        BasicBlock *From = Branch->getParent();
        if (!convert(*Branch))
          continue;
        Again = true;
        MergeBlockIntoPredecessor(From->getSingleSuccessor());
      }
  }
}

} // namespace symfleet
