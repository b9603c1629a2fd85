#include "Coverage.h"

#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace symfleet {

// Cases of a switch that go the same way stay one edge, as they are one way.
void splitCriticalEdges(Function &F) {
  SplitAllCriticalEdges(
      F, CriticalEdgeSplittingOptions().setIgnoreUnreachableDests().setMergeIdenticalEdges());
}

static bool dominatesAllSuccessors(const BasicBlock &BB, const DominatorTree &DT) {
  if (succ_empty(&BB))
    return false;
  return all_of(successors(&BB), [&](const BasicBlock *S) { return DT.dominates(&BB, S); });
}

static bool postDominatesAllPredecessors(const BasicBlock &BB, const PostDominatorTree &PDT) {
  if (pred_empty(&BB))
    return false;
  return all_of(predecessors(&BB), [&](const BasicBlock *P) { return PDT.dominates(&BB, P); });
}

SmallVector<BasicBlock *, 16> blocksToCount(Function &F) {
  DominatorTree DT(F);
  PostDominatorTree PDT(F);
  SmallVector<BasicBlock *, 16> Blocks;
  for (BasicBlock &BB : F) {
    if (isa<UnreachableInst>(BB.getFirstNonPHIOrDbg()) || BB.getFirstInsertionPt() == BB.end())
      continue;
    bool Implied = dominatesAllSuccessors(BB, DT) ||
                   (postDominatesAllPredecessors(BB, PDT) && !BB.getSinglePredecessor());
    if (&BB == &F.getEntryBlock() || !Implied)
      Blocks.push_back(&BB);
  }
  return Blocks;
}

SmallVector<SelectInst *, 16> selectsToCount(Function &F) {
  SmallVector<SelectInst *, 16> Selects;
  for (BasicBlock &BB : F) {
    SmallPtrSet<const Value *, 4> Counted; // one condition often chooses several values
    for (Instruction &I : BB)
      if (auto *S = dyn_cast<SelectInst>(&I))
        if (Value *Decides = S->getCondition(); !isa<Constant>(Decides) &&
                                                Decides->getType()->isIntegerTy(1) &&
                                                Counted.insert(Decides).second)
          Selects.push_back(S);
  }
  return Selects;
}

// Counts an edge before `At`: First, or the one after it when `Chosen` is true.
//
// A counter passes over zero. That is asked by the intrinsic, not by a comparison: LLVM's
// code generator would make the one of the other, and looks through the whole function
// again after each time.
static void count(Runtime &RT, Instruction &At, uint64_t First, Value *Chosen) {
  IRBuilder<> B(&At);
  B.SetCurrentDebugLocation(DebugLoc());
  LoadInst *Base = unchecked(B.CreateLoad(RT.BytePtr, RT.edgeBase()));
  if (At.getFunction()->getName() != "main") // main starts before the base is known
    Base->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(RT.C, {}));
  Value *Counter = B.CreateConstInBoundsGEP1_64(RT.Int8, Base, First);
  if (Chosen)
    Counter = B.CreateInBoundsGEP(RT.Int8, Counter, B.CreateZExt(Chosen, RT.Int64));
  Value *Now = unchecked(B.CreateLoad(RT.Int8, Counter));
  Value *Sum = B.CreateIntrinsic(Intrinsic::uadd_with_overflow, {RT.Int8},
                                 {Now, ConstantInt::get(RT.Int8, 1)});
  Value *Wrapped = B.CreateZExt(B.CreateExtractValue(Sum, 1), RT.Int8);
  unchecked(B.CreateStore(B.CreateAdd(B.CreateExtractValue(Sum, 0), Wrapped), Counter));
}

void countBlock(Runtime &RT, BasicBlock &BB) {
  BasicBlock::iterator At = BB.getFirstInsertionPt();
  while (isa<AllocaInst>(*At))
    ++At;
  count(RT, *At, RT.newEdge(), nullptr);
}

void countSelect(Runtime &RT, SelectInst &S) {
  uint64_t First = RT.newEdge();
  RT.newEdge();
  count(RT, S, First, S.getCondition());
}

} // namespace symfleet
