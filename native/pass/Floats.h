// Instructions, intrinsics and library calls that compute with floating-point
// numbers, as the functions of SF_OP_FLOAT.
#ifndef SYMFLEET_PASS_FLOATS_H
#define SYMFLEET_PASS_FLOATS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstrTypes.h"

#include <optional>

namespace symfleet {

// What an instruction computes from its operands, lane by lane.
struct FloatOperation {
  enum class Kind {
    Function, // `function` of the operands
    Negate,   // of the sign alone: these three are exact on the bits
    Absolute,
    CopySign,
    MultiplyAdd, // a product that is rounded, then a sum
  };
  Kind kind = Kind::Function;
  unsigned function = 0; // enum sf_float_function
  bool negated = false;  // of a comparison: the result is the opposite
  llvm::SmallVector<llvm::Value *, 3> operands;
  // Library functions that also store: the integer or number goes there.
  llvm::Value *stored = nullptr;
  unsigned storedFunction = 0;
  llvm::Type *storedType = nullptr;
};

// The format (enum sf_float_format) of a number or of a vector's elements.
std::optional<unsigned> floatFormat(llvm::Type *T);

// Nothing if the instruction is none of these, or of a type that has no rows.
std::optional<FloatOperation> floatOperationOf(const llvm::Instruction &I,
                                               const llvm::DataLayout &DL);

// A call of a function of the mathematical library that has a meaning here.
bool isMathCall(const llvm::Instruction &I, const llvm::DataLayout &DL);

} // namespace symfleet

#endif
