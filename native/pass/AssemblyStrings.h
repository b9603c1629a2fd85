// Copies and fills by inline assembly: `rep movsb`, `rep stosb` and their like.
#ifndef SYMFLEET_PASS_ASSEMBLYSTRINGS_H
#define SYMFLEET_PASS_ASSEMBLYSTRINGS_H

#include "llvm/IR/InstrTypes.h"

#include <optional>

namespace symfleet {

struct AsmString {
  llvm::Value *to, *from, *value; // from or value: null for the other kind
  llvm::Value *count;
  unsigned unit; // bytes of one step
};

// A text that is one such instruction; a fill of more than bytes is one of a
// constant.
std::optional<AsmString> stringOfAssembly(const llvm::CallBase &Call);

} // namespace symfleet

#endif
