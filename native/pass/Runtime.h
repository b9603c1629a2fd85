// Names and types of the runtime as one module sees them.
#ifndef SYMFLEET_PASS_RUNTIME_H
#define SYMFLEET_PASS_RUNTIME_H

#include "OutsideCalls.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <string>

namespace symfleet {

// A 64-bit FNV-1a hash, finished by a mixer: equal on every host, with every
// LLVM.
class StableHash {
public:
  void add(llvm::StringRef Text);
  void add(uint64_t Number);
  uint64_t finish() const;

private:
  uint64_t State = 0xcbf29ce484222325ull;
};

// What is compiled without labels, with its place: for `symfleet doctor`.
struct LostOperation {
  std::string what, file, function;
  unsigned line;
};

// One per module.
class Runtime {
public:
  explicit Runtime(llvm::Module &M);

  // Calls __sf_<Name>; arguments are i32 or i64, or pointers passed as i8*.
  llvm::CallInst *call(llvm::IRBuilder<> &B, llvm::StringRef Name, llvm::Type *Result,
                       llvm::ArrayRef<llvm::Value *> Arguments);

  // Address of a field of this thread's call record.
  llvm::Constant *tlsField(uint64_t Offset, llvm::Type *FieldType);

  // Adds a counter to this module's edges and returns its number.
  uint32_t newEdge() { return Edges++; }
  llvm::GlobalVariable *edgeBase() { return EdgeBase; }

  // Writes the module's record, its constructor and its notes.
  void finish();

  llvm::Module &M;
  llvm::LLVMContext &C;
  llvm::Type *Int8, *Int32, *Int64, *Void;
  llvm::PointerType *BytePtr;
  llvm::Constant *NoLabel; // i32 0
  std::string SourceName;  // of the translation unit, relative where possible
  StableHash Hash;         // of all that was compiled
  // Notes an instruction that cannot be followed.
  void noteLost(const llvm::Instruction &I, LostOperation Operation);
  // Notes a call of a function that may not carry labels.
  void noteOutside(const llvm::CallBase &Call, const OutsideCall &Outside, LostOperation Place);
  // Whether that was done, and whether anybody wants to hear of it: a byte for
  // each such function, which is zero unless a run is recorded.
  bool isOutside(const llvm::Instruction &I) const { return OutsideCalls.count(&I) != 0; }
  llvm::Constant *watchOf(const llvm::Instruction &I) { return OutsideCalls[&I]; }
  // Its place as the runtime tells it; empty text for one that was not noted.
  llvm::Constant *lostPlace(const llvm::Instruction &I);

private:
  std::vector<LostOperation> Lost;
  llvm::DenseMap<const llvm::Instruction *, llvm::Constant *> LostPlaces;
  struct OutsideNote {
    LostOperation place;
    ComesBack way;
  };
  std::vector<OutsideNote> Outside;
  llvm::MapVector<const llvm::Function *, llvm::Constant *> Watched;
  llvm::DenseMap<const llvm::Instruction *, llvm::Constant *> OutsideCalls;
  void tellPlace(const llvm::Instruction &I, const LostOperation &Place);
  void emitRegistration();
  void emitNotes();

  llvm::GlobalVariable *Tls, *EdgeBase, *Watch;
  uint32_t Edges = 0;
};

// Marks an instruction of ours, which sanitizers need not check.
template <typename InstT> InstT *unchecked(InstT *I) {
  I->setMetadata("nosanitize", llvm::MDNode::get(I->getContext(), {}));
  return I;
}

} // namespace symfleet

#endif
