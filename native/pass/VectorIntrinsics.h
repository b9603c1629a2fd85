// x86's vector intrinsics that scanners and decoders use, and reductions.
#ifndef SYMFLEET_PASS_VECTORINTRINSICS_H
#define SYMFLEET_PASS_VECTORINTRINSICS_H

#include "Terms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicInst.h"

namespace symfleet {

bool isModelledVectorIntrinsic(const llvm::IntrinsicInst &I);

// Operands as lists of terms, one for each leaf.
using LanesOf = llvm::function_ref<llvm::SmallVector<Term, 16>(unsigned Operand)>;

// The leaves of the result.
llvm::SmallVector<Term, 16> followVectorIntrinsic(const llvm::IntrinsicInst &I, const Terms &T,
                                                  LanesOf Lanes);

} // namespace symfleet

#endif
