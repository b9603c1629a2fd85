// Label and value of an intermediate result, built side by side.
//
// Instructions that stand for several operations (inline assembly, x86's vector
// intrinsics) need the values in between, which the program itself never had.
// Without a builder nothing is emitted: only widths are followed, which tells
// whether something can be expressed at all.
#ifndef SYMFLEET_PASS_TERMS_H
#define SYMFLEET_PASS_TERMS_H

#include "Runtime.h"

namespace symfleet {

// A number of 1 to 64 bits.
struct Term {
  llvm::Value *label = nullptr;
  llvm::Value *value = nullptr; // i64, the bits above zero
  unsigned bits = 0;
};

class Terms {
public:
  // Follows widths only.
  Terms() = default;
  Terms(Runtime &RT, llvm::IRBuilder<> &B) : RT(&RT), B(&B) {}

  Term constant(uint64_t Value, unsigned Bits) const;
  // Op is an operation of rows on two values of one width.
  Term binary(unsigned Op, const Term &X, const Term &Y) const;
  // A comparison or an overflow flag.
  Term compare(unsigned Op, const Term &X, const Term &Y) const;
  // The low bits of (High above Low) / By, or the remainder: SF_OP_UDIVW, SF_OP_UREMW.
  Term divide(unsigned Op, const Term &High, const Term &Low, const Term &By) const;
  Term unary(unsigned Op, const Term &X) const;
  Term zext(const Term &X, unsigned Bits) const;
  Term sext(const Term &X, unsigned Bits) const;
  Term extract(const Term &X, unsigned Low, unsigned Bits) const;
  Term concat(const Term &High, const Term &Low) const;
  Term choose(const Term &Condition, const Term &Then, const Term &Else) const;
  // High and Low as one number, shifted by Amount modulo the width.
  Term funnel(bool Right, const Term &High, const Term &Low, const Term &Amount) const;
  Term flip(const Term &Bit) const { return binaryXor(Bit, constant(1, 1)); }

private:
  Term binaryXor(const Term &X, const Term &Y) const;
  llvm::Value *number(uint64_t N) const { return llvm::ConstantInt::get(RT->Int64, N); }
  llvm::Value *packed(uint32_t N) const { return llvm::ConstantInt::get(RT->Int32, N); }
  llvm::Value *masked(llvm::Value *V, unsigned Bits) const;
  llvm::Value *isSigned(llvm::Value *V, unsigned Bits) const;
  llvm::Value *binaryValue(unsigned Op, const Term &X, const Term &Y) const;
  llvm::Value *quotientValue(unsigned Op, const Term &X, const Term &Y) const;
  llvm::Value *overflowValue(unsigned Op, const Term &X, const Term &Y) const;
  llvm::Value *shiftValue(unsigned Op, const Term &X, llvm::Value *Amount) const;
  llvm::Value *compareValue(unsigned Op, const Term &X, const Term &Y) const;
  llvm::Value *unaryValue(unsigned Op, const Term &X) const;

  Runtime *RT = nullptr;
  llvm::IRBuilder<> *B = nullptr;
};

} // namespace symfleet

#endif
