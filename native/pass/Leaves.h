// A value of any type as a list of leaves, each with one label.
#ifndef SYMFLEET_PASS_LEAVES_H
#define SYMFLEET_PASS_LEAVES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"

namespace symfleet {

// An integer of up to 64 bits, a pointer, a floating-point number's bits, or up
// to 64 bits of a wider integer or of a long double.
struct Leaf {
  llvm::SmallVector<unsigned, 2> path; // indices of aggregates and vectors
  unsigned piece;                      // of a wide integer
  unsigned bits;                       // 1..64
  uint64_t offset;                     // in bytes, in memory
};

using LeafList = llvm::SmallVector<Leaf, 1>;

// Leaves of a type; none if it cannot carry labels (too large, too exotic).
LeafList leavesOf(llvm::Type *T, const llvm::DataLayout &DL);

// The leaf of V as an i64, its bits above the leaf's width zero.
llvm::Value *leafValue(llvm::IRBuilder<> &B, llvm::Value *V, const Leaf &L);

// A scalar of at most 64 bits as an i64.
llvm::Value *asInt64(llvm::IRBuilder<> &B, llvm::Value *V);

// Number of the first leaf below the indices.
unsigned firstLeafAt(llvm::Type *T, llvm::ArrayRef<unsigned> Indices, const llvm::DataLayout &DL);

} // namespace symfleet

#endif
