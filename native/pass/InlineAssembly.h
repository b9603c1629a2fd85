// Inline assembly whose meaning is known.
//
// A text of common instructions on registers and on memory that a constraint
// names is followed instruction by instruction; one that says something else (a
// jump, other memory, an unknown instruction) is not modelled, as a whole.
#ifndef SYMFLEET_PASS_INLINEASSEMBLY_H
#define SYMFLEET_PASS_INLINEASSEMBLY_H

#include "Terms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstrTypes.h"

namespace symfleet {

// Memory that an assembly text reads or writes through a constraint.
struct AsmMemory {
  llvm::Value *pointer;
  llvm::Type *type;
  bool written;
  unsigned argument;
};
llvm::SmallVector<AsmMemory, 4> memoryOfAssembly(const llvm::CallBase &Call);

// The width of what an operand can be to be followed; 0 if it cannot.
unsigned bitsOfAssembly(llvm::Type *Ty, const llvm::DataLayout &DL);

// An empty text: what goes in comes out.
bool isEmptyAssembly(const llvm::CallBase &Call);

// The input that an output begins with, by argument number; -1 if there is none.
llvm::SmallVector<int, 4> tiedInputs(const llvm::CallBase &Call);

// What a text leaves in memory: where the argument points to.
struct AsmStore {
  unsigned argument;
  Term term;
};

struct AsmOutcome {
  llvm::SmallVector<Term, 4> results;
  llvm::SmallVector<AsmStore, 2> stores; // in their order
};

// Gives the term of an argument, or of what a pointer argument points to before
// the text runs.
using AsmInput = llvm::function_ref<Term(unsigned Argument, bool Memory, unsigned Bits)>;
// Gives what the text has really left in an output, without a label.
using AsmResult = llvm::function_ref<Term(unsigned Result, unsigned Bits)>;

// Follows the text. Returns false if it cannot.
bool followAssembly(const llvm::CallBase &Call, const Terms &T, AsmInput Input, AsmResult Result,
                    AsmOutcome &Outcome);

bool isModelledAssembly(const llvm::CallBase &Call);

} // namespace symfleet

#endif
