// Adds labels to one function.
//
// Theory of operation. The instructions of a block are collected in a *segment*
// until something needs labels in memory or in the call record to be up to
// date: a call, the end of the block. A segment is then flushed: one test asks
// whether anything in it can be labelled at all, and one cold block holds the
// label operations of all its instructions in their order.
//
//   %x = load i32, i32* %p               %x = load i32, i32* %p
//   %y = add i32 %x, %n                  %y = add i32 %x, %n
//   %c = icmp eq i32 %y, 7               %c = icmp eq i32 %y, 7
//   br i1 %c, ...                        %page = load i64, (shadow of %p)
//                                        %any = or i64 %page, (zext %ln)
//                                        br (%any != 0), %cold, %cont !unlikely
//                                      cold:
//                                        %lx = call __sf_load(%p, 32, ...)
//                                        %ly = call __sf_binary(ADD, %lx, %ln, ...)
//                                        %lc = call __sf_compare(EQ, %ly, 0, ...)
//                                        call __sf_branch(%lc, %c, site)
//                                      cont:
//                                        %ly.1 = phi [0, ...], [%ly, %cold]
//                                        br i1 %c, ...
//
// The test may say yes too often, never too seldom. Values that cannot be
// labelled by any path have no labels at all. The shadow is read after the
// access itself, so a wild pointer faults where it did before.
#ifndef SYMFLEET_PASS_INSTRUMENTER_H
#define SYMFLEET_PASS_INSTRUMENTER_H

#include "Operations.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace symfleet {

class Instrumenter {
public:
  Instrumenter(Runtime &RT, llvm::Function &F);

  // Blocks in reverse post-order with the instructions to be labelled. Taken
  // before anything of ours is inserted.
  void collect();
  void run();

private:
  using Builder = llvm::IRBuilder<>;

  enum class Kind {
    Operation,
    TakeArgs,
    TakeRet,
    PassArgs,
    PassRet,
    VaStart,
    Terminator,
    Lost,
    AsmWrites,
    Target
  };
  struct Step {
    Kind kind;
    llvm::Instruction *instruction;
  };
  struct Block {
    llvm::BasicBlock *block;
    llvm::SmallVector<llvm::Instruction *, 16> instructions;
  };

  // Which values can be labelled (Tracking.cpp).
  void track();
  bool isTracked(llvm::Value *V) const { return Tracked.count(V) != 0; }
  bool anyTracked(const llvm::User &U) const;
  unsigned leafCount(llvm::Value *V) const;

  void createPhis();
  void fillPhis();
  void removeUnusedPhis();
  void visit(llvm::Instruction &I);
  void visitCall(llvm::CallBase &Call);
  void noteTailCall(llvm::CallBase &Call);
  void visitAssembly(llvm::CallBase &Call);
  void visitReturn(llvm::ReturnInst &Return);
  void add(Kind K, llvm::Instruction &I);
  void noteLost(llvm::Instruction &I);
  LostOperation placeOf(const llvm::Instruction &I, llvm::StringRef What) const;
  void visitOutsideCall(llvm::CallBase &Call);

  // Flush (Segment.cpp).
  void flush(llvm::Instruction &Before);
  llvm::Value *segmentTest(Builder &B);
  void addPageTests(Builder &B, llvm::SmallVectorImpl<llvm::Value *> &Tests);
  void emitCold(Builder &B);
  void joinLabels(llvm::BasicBlock *Head, llvm::BasicBlock *Cold, llvm::Instruction &Before);
  void emitTakeArgs(Builder &B);
  void emitTakeByvals(Builder &B, llvm::Value *Labels);
  void emitHandOver(Builder &B, llvm::CallBase &Call);
  void emitWatch(llvm::CallBase &Call, llvm::ArrayRef<llvm::Value *> Pointers);
  void emitPassVarargs(Builder &B, llvm::CallBase &Call);
  llvm::Value *emitPassByvals(Builder &B, llvm::CallBase &Call);
  void emitTakeRet(Builder &B, llvm::CallBase &Call);
  void emitPass(Builder &B, llvm::StringRef Name, llvm::Value *Callee,
                llvm::ArrayRef<llvm::Value *> Values, llvm::Value *Any);
  bool definesIn(const Step &S, llvm::Value *V) const;

  // The label of a leaf at the builder: of this segment or an earlier one.
  llvm::Value *labelOf(Builder &B, llvm::Value *V, unsigned Leaf);

  Runtime &RT;
  llvm::Function &F;
  const llvm::DataLayout &DL;
  OperationEmitter Emitter;
  std::vector<Block> Blocks;
  llvm::SmallPtrSet<llvm::Value *, 32> Tracked;

  llvm::SmallVector<Step, 32> Segment;
  llvm::DenseMap<llvm::Value *, LabelList> Labels; // in the hot path
  llvm::DenseMap<llvm::Value *, LabelList> Cold;   // in the segment being flushed
  llvm::DenseMap<llvm::Instruction *, llvm::Value *> RetTokens;
  std::vector<std::pair<llvm::PHINode *, unsigned>> OriginalPhis;
  std::vector<llvm::PHINode *> OurPhis;

  // Arguments: one flag in the hot path, their labels in a stack slot.
  llvm::DenseMap<llvm::Value *, unsigned> FirstArgSlot;
  llvm::AllocaInst *ArgSlots = nullptr;
  llvm::Value *ArgToken = nullptr;
  llvm::Value *AnyArg = nullptr;
  unsigned ArgCount = 0;
  llvm::AllocaInst *Varargs = nullptr; // struct sf_varargs of a variadic function
};

} // namespace symfleet

#endif
