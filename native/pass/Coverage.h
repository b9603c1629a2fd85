// Edge counters.
#ifndef SYMFLEET_PASS_COVERAGE_H
#define SYMFLEET_PASS_COVERAGE_H

#include "Runtime.h"

namespace symfleet {

// Splits critical edges, so that a block stands for each edge. Before counting.
void splitCriticalEdges(llvm::Function &F);

// Blocks that get a counter: the others are implied by them.
llvm::SmallVector<llvm::BasicBlock *, 16> blocksToCount(llvm::Function &F);

// Before: first instruction of the block. After:
//   %base = load i8*, i8** @__sf_edge_base
//   %n = load i8, %base[edge]; %m = %n + 1; %m += (%m == 0); store %m
// The counter wraps past zero and so never says "not reached" of a hot edge.
void countBlock(Runtime &RT, llvm::BasicBlock &BB);

// Selects whose arms get a counter each: the branches that an optimiser took out.
llvm::SmallVector<llvm::SelectInst *, 16> selectsToCount(llvm::Function &F);

// Before: %x = select i1 %c, %a, %b. After: the same, behind the counter of
// edge + zext(%c), counted as above.
void countSelect(Runtime &RT, llvm::SelectInst &S);

} // namespace symfleet

#endif
