// Inline assembly whose meaning is known.
//
// A text of common instructions on registers is followed instruction by
// instruction; one that says something else (a jump, memory that is written, an
// unknown instruction) is not modelled, as a whole.
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
};
llvm::SmallVector<AsmMemory, 4> memoryOfAssembly(const llvm::CallBase &Call);

// An empty text: what goes in comes out.
bool isEmptyAssembly(const llvm::CallBase &Call);

// The input that an output begins with, by argument number; -1 if there is none.
llvm::SmallVector<int, 4> tiedInputs(const llvm::CallBase &Call);

// Gives the term of an argument, or of what a pointer argument points to.
using AsmInput = llvm::function_ref<Term(unsigned Argument, bool Memory, unsigned Bits)>;

// Follows the text. Returns false if it cannot; Outputs are the results.
bool followAssembly(const llvm::CallBase &Call, const Terms &T, AsmInput Input,
                    llvm::SmallVectorImpl<Term> &Outputs);

bool isModelledAssembly(const llvm::CallBase &Call);

} // namespace symfleet

#endif
