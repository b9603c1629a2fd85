// The label side of each instruction: what the cold block does for it.
//
// For `%c = add i32 %a, %b` the hot path is unchanged, and the cold block holds
//   %lc = call i32 @__sf_binary(ADD | 32 << 8, %la, %lb, zext %a, zext %b)
#ifndef SYMFLEET_PASS_OPERATIONS_H
#define SYMFLEET_PASS_OPERATIONS_H

#include "Floats.h"
#include "Leaves.h"
#include "Runtime.h"
#include "Terms.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"

#include <functional>

namespace symfleet {

using LabelList = llvm::SmallVector<llvm::Value *, 1>;

// What kind of label an instruction's result can have.
enum class Effect {
  None,      // never labelled, and says nothing
  Computes,  // labelled if an operand is
  Reads,     // may be labelled whatever its operands are
  Calls,     // a call of a function: labels come back through the record
  Unmodelled // loses the labels of its operands
};

Effect effectOf(const llvm::Instruction &I, const llvm::DataLayout &DL);

// An integer that is handled as several words.
bool isWideInteger(const llvm::Type *T);

// An instruction that changes the labels of memory.
bool writesMemoryLabels(const llvm::Instruction &I);

// How large a variable or global is; 0 if that is not known here.
uint64_t sizeOfObject(const llvm::Value &Object, const llvm::DataLayout &DL);

struct AsmString;

// Emits label operations of one function.
class OperationEmitter {
public:
  // Label of a leaf of a value, as seen at the builder.
  using LabelOf = std::function<llvm::Value *(llvm::IRBuilder<> &, llvm::Value *, unsigned)>;

  OperationEmitter(Runtime &RT, llvm::Function &F, LabelOf Label);

  // Labels of the result, one for each leaf.
  LabelList emit(llvm::IRBuilder<> &B, llvm::Instruction &I);

  // Events of a terminator.
  void emitTerminator(llvm::IRBuilder<> &B, llvm::Instruction &I);

  // Where a call or a computed jump goes.
  void emitTarget(llvm::IRBuilder<> &B, llvm::Value *Target);

  // What becomes of an instruction that is not understood.
  void lose(llvm::IRBuilder<> &B, llvm::Instruction &I);

  // Reads what modelled assembly will overwrite; right before it.
  void holdMemory(llvm::CallBase &Assembly);

  llvm::Constant *nextSite();

private:
  using Builder = llvm::IRBuilder<>;
  using Value = llvm::Value;

  Value *binary(Builder &B, unsigned Op, unsigned Bits, Value *LA, Value *LB, Value *A, Value *VB);
  Value *compare(Builder &B, unsigned Op, unsigned Bits, Value *LA, Value *LB, Value *A, Value *VB);
  Value *select(Builder &B, unsigned Bits, bool Goal, Value *LC, Value *LT, Value *LE, Value *C,
                Value *T, Value *E);
  Value *logical(Builder &B, unsigned Op, bool Symmetric, Value *X, Value *Y);
  Value *predicate(Builder &B, llvm::CmpInst::Predicate P, unsigned Bits, Value *LA, Value *LB,
                   Value *A, Value *VB);

  LabelList binaryOperator(Builder &B, llvm::BinaryOperator &I);
  LabelList comparison(Builder &B, llvm::ICmpInst &I);
  LabelList conversion(Builder &B, llvm::CastInst &I);
  LabelList elementAddress(Builder &B, llvm::GetElementPtrInst &I);
  LabelList selection(Builder &B, llvm::SelectInst &I);
  LabelList load(Builder &B, llvm::LoadInst &I);
  LabelList atomicUpdate(Builder &B, llvm::AtomicRMWInst &I);
  Term atomicResult(Builder &B, llvm::AtomicRMWInst::BinOp Op, const Term &Old, const Term &New);
  LabelList compareExchange(Builder &B, llvm::AtomicCmpXchgInst &I);
  LabelList intrinsic(Builder &B, llvm::IntrinsicInst &I);
  LabelList overflow(Builder &B, llvm::IntrinsicInst &I, unsigned Op, unsigned Flag);
  LabelList saturating(Builder &B, llvm::IntrinsicInst &I, unsigned Op, unsigned Flag);
  LabelList minMax(Builder &B, llvm::IntrinsicInst &I, llvm::CmpInst::Predicate P);
  LabelList floating(Builder &B, llvm::Instruction &I, const FloatOperation &Known);
  LabelList floatLane(Builder &B, llvm::Instruction &I, const FloatOperation &Known, unsigned Lane);
  LabelList signLane(Builder &B, const FloatOperation &Known, unsigned Lane);
  void storeFloatPart(Builder &B, const FloatOperation &Known);
  LabelList widePredicate(Builder &B, llvm::CmpInst::Predicate P, Value *X, Value *Y);
  LabelList wide(Builder &B, unsigned Op, llvm::ArrayRef<Value *> Operands, unsigned Results);
  bool wideIntrinsic(Builder &B, llvm::IntrinsicInst &I, LabelList &Out);
  LabelList wideSignExtension(Builder &B, llvm::CastInst &I);
  LabelList recut(Builder &B, Value *X, llvm::Type *To);
  Value *lengthLabel(Builder &B, Value *Length);
  LabelList vectorIntrinsic(Builder &B, llvm::IntrinsicInst &I);
  LabelList assembly(Builder &B, llvm::CallBase &Call);
  void copyOrFill(Builder &B, const AsmString &String);
  Value *loadedFrom(Builder &B, Value *Pointer, unsigned Bits);
  llvm::SmallVector<Term, 16> termsOf(Builder &B, Value *V);
  LabelList aggregate(Builder &B, llvm::Instruction &I);
  void store(Builder &B, Value *Pointer, Value *Stored);
  void storeLabels(Builder &B, Value *Pointer, Value *Stored, llvm::ArrayRef<Value *> Labels);
  void switchEvents(Builder &B, llvm::SwitchInst &I);
  void concretise(Builder &B, Value *V);
  void nameObject(Builder &B, Value *Pointer);

  Value *number(uint64_t N) { return llvm::ConstantInt::get(RT.Int64, N); }
  Value *packed(uint32_t N) { return llvm::ConstantInt::get(RT.Int32, N); }
  bool isZero(Value *L) const { return L == RT.NoLabel; }
  LabelList passThrough(Builder &B, Value *From, unsigned First, unsigned Count);

  Runtime &RT;
  llvm::Function &F;
  const llvm::DataLayout &DL;
  LabelOf Label;
  uint64_t Ordinal = 0;
  // By assembly and argument.
  llvm::DenseMap<std::pair<const llvm::CallBase *, unsigned>, Value *> HeldBefore;
  llvm::AllocaInst *WideRecord = nullptr; // struct sf_wide
};

} // namespace symfleet

#endif
