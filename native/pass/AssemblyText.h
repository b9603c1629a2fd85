// The text of inline assembly: lines, operands, addresses.
#ifndef SYMFLEET_PASS_ASSEMBLYTEXT_H
#define SYMFLEET_PASS_ASSEMBLYTEXT_H

#include "AssemblyMachine.h"

namespace symfleet {

// What a number in the text stands for: a cell, or a constant that is written
// into the text. Neither: a condition code, which has no place.
struct AsmOperand {
  AsmCell *cell = nullptr;
  std::optional<uint64_t> constant;
};

// Runs a text on a machine. Returns false at what it cannot follow.
bool runAssembly(llvm::StringRef Text, llvm::ArrayRef<AsmOperand> Operands,
                 AssemblyMachine &Machine);

} // namespace symfleet

#endif
