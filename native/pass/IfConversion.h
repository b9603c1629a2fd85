// If-conversion of what an optimiser would have converted.
#ifndef SYMFLEET_PASS_IF_CONVERSION_H
#define SYMFLEET_PASS_IF_CONVERSION_H

#include "llvm/IR/Function.h"

namespace symfleet {

// Turns branches that do no more than choose an integer for a local variable
// into selects, in functions that no optimiser looks at.
//
// Before: br i1 %c, %then, %else    After:  %a = ...; %b = ...
//   then: %a = ...; store %a, %x      %s = select i1 %c, %a, %b
//         br %end                     store %s, %x
//   else: %b = ...; store %b, %x      br %end
//         br %end
//
// A select is an event as a branch is, but no condition of the path: a loop
// with such a branch for each bit has one path, not as many as there are inputs.
void convertIfs(llvm::Function &F);

} // namespace symfleet

#endif
