#include "Terms.h"

#include "symfleet/abi.h"

#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace symfleet {

static uint64_t maskOf(unsigned Bits) { return Bits >= 64 ? ~0ull : (1ull << Bits) - 1; }

Value *Terms::masked(Value *V, unsigned Bits) const {
  return Bits >= 64 ? V : B->CreateAnd(V, maskOf(Bits));
}

Value *Terms::isSigned(Value *V, unsigned Bits) const {
  return B->CreateAShr(B->CreateShl(V, 64 - Bits), 64 - Bits);
}

Term Terms::constant(uint64_t Value, unsigned Bits) const {
  if (!B)
    return {nullptr, nullptr, Bits};
  return {RT->NoLabel, number(Value & maskOf(Bits)), Bits};
}

Value *Terms::shiftValue(unsigned Op, const Term &X, Value *Amount) const {
  Value *Small = B->CreateICmpULT(Amount, number(X.bits));
  Value *Safe = B->CreateSelect(Small, Amount, number(0));
  if (Op == SF_OP_ASHR) {
    Value *Most = B->CreateSelect(Small, Amount, number(X.bits - 1));
    return masked(B->CreateAShr(isSigned(X.value, X.bits), Most), X.bits);
  }
  Value *Moved = Op == SF_OP_SHL ? B->CreateShl(X.value, Safe) : B->CreateLShr(X.value, Safe);
  return B->CreateSelect(Small, masked(Moved, X.bits), number(0));
}

Value *Terms::binaryValue(unsigned Op, const Term &X, const Term &Y) const {
  switch (Op) {
  case SF_OP_ADD:
    return masked(B->CreateAdd(X.value, Y.value), X.bits);
  case SF_OP_SUB:
    return masked(B->CreateSub(X.value, Y.value), X.bits);
  case SF_OP_MUL:
    return masked(B->CreateMul(X.value, Y.value), X.bits);
  case SF_OP_AND:
    return B->CreateAnd(X.value, Y.value);
  case SF_OP_OR:
    return B->CreateOr(X.value, Y.value);
  case SF_OP_XOR:
    return B->CreateXor(X.value, Y.value);
  case SF_OP_UMULH: {
    llvm::Type *Wide = B->getInt128Ty();
    Value *Product = B->CreateMul(B->CreateZExt(X.value, Wide), B->CreateZExt(Y.value, Wide));
    return B->CreateTrunc(B->CreateLShr(Product, X.bits), RT->Int64);
  }
  case SF_OP_SDIV:
  case SF_OP_SREM:
    return quotientValue(Op, X, Y);
  default:
    return shiftValue(Op, X, Y.value);
  }
}

// Behind the division itself, which has trapped where this would.
Value *Terms::quotientValue(unsigned Op, const Term &X, const Term &Y) const {
  Value *SX = isSigned(X.value, X.bits), *SY = isSigned(Y.value, Y.bits);
  return masked(Op == SF_OP_SDIV ? B->CreateSDiv(SX, SY) : B->CreateSRem(SX, SY), X.bits);
}

Term Terms::divide(unsigned Op, const Term &High, const Term &Low, const Term &By) const {
  if (!B)
    return {nullptr, nullptr, By.bits};
  Value *L = RT->NoLabel;
  if (High.label != RT->NoLabel || Low.label != RT->NoLabel || By.label != RT->NoLabel)
    L = RT->call(*B, "divide", RT->Int32,
                 {packed(Op | By.bits << 8), High.label, Low.label, By.label, High.value, Low.value,
                  By.value});
  llvm::Type *Wide = B->getInt128Ty();
  Value *Whole = B->CreateOr(B->CreateShl(B->CreateZExt(High.value, Wide), By.bits),
                             B->CreateZExt(Low.value, Wide));
  Value *Divisor = B->CreateZExt(By.value, Wide);
  if (By.bits < 64) { // in one word
    Whole = B->CreateTrunc(Whole, RT->Int64);
    Divisor = By.value;
  }
  Value *V = Op == SF_OP_UDIVW ? B->CreateUDiv(Whole, Divisor) : B->CreateURem(Whole, Divisor);
  return {L, masked(B->CreateZExtOrTrunc(V, RT->Int64), By.bits), By.bits};
}

Term Terms::binary(unsigned Op, const Term &X, const Term &Y) const {
  if (!B)
    return {nullptr, nullptr, X.bits};
  Value *L = RT->NoLabel;
  if (X.label != RT->NoLabel || Y.label != RT->NoLabel)
    L = RT->call(*B, "binary", RT->Int32,
                 {packed(Op | X.bits << 8), X.label, Y.label, X.value, Y.value});
  return {L, binaryValue(Op, X, Y), X.bits};
}

Term Terms::binaryXor(const Term &X, const Term &Y) const { return binary(SF_OP_XOR, X, Y); }

// Whether the exact result is another number than its lowest bits.
Value *Terms::overflowValue(unsigned Op, const Term &X, const Term &Y) const {
  llvm::Type *Wide = B->getInt128Ty();
  if (Op == SF_OP_UMULO) {
    Value *Product = B->CreateMul(B->CreateZExt(X.value, Wide), B->CreateZExt(Y.value, Wide));
    return B->CreateICmpNE(B->CreateLShr(Product, X.bits), ConstantInt::get(Wide, 0));
  }
  Value *SX = B->CreateSExt(isSigned(X.value, X.bits), Wide);
  Value *SY = B->CreateSExt(isSigned(Y.value, Y.bits), Wide);
  Value *Exact = Op == SF_OP_SADDO   ? B->CreateAdd(SX, SY)
                 : Op == SF_OP_SSUBO ? B->CreateSub(SX, SY)
                                     : B->CreateMul(SX, SY);
  Value *Low = isSigned(B->CreateTrunc(Exact, RT->Int64), X.bits);
  return B->CreateICmpNE(B->CreateSExt(Low, Wide), Exact);
}

Value *Terms::compareValue(unsigned Op, const Term &X, const Term &Y) const {
  Value *SX = isSigned(X.value, X.bits), *SY = isSigned(Y.value, Y.bits);
  switch (Op) {
  case SF_OP_EQ:
    return B->CreateICmpEQ(X.value, Y.value);
  case SF_OP_NE:
    return B->CreateICmpNE(X.value, Y.value);
  case SF_OP_ULT:
  case SF_OP_USUBO:
    return B->CreateICmpULT(X.value, Y.value);
  case SF_OP_ULE:
    return B->CreateICmpULE(X.value, Y.value);
  case SF_OP_SLT:
    return B->CreateICmpSLT(SX, SY);
  case SF_OP_SLE:
    return B->CreateICmpSLE(SX, SY);
  case SF_OP_UADDO:
    return B->CreateICmpULT(masked(B->CreateAdd(X.value, Y.value), X.bits), X.value);
  default:
    return overflowValue(Op, X, Y);
  }
}

Term Terms::compare(unsigned Op, const Term &X, const Term &Y) const {
  if (!B)
    return {nullptr, nullptr, 1};
  Value *L = RT->NoLabel;
  if (X.label != RT->NoLabel || Y.label != RT->NoLabel)
    L = RT->call(*B, "compare", RT->Int32,
                 {packed(Op | X.bits << 8), X.label, Y.label, X.value, Y.value});
  return {L, B->CreateZExt(compareValue(Op, X, Y), RT->Int64), 1};
}

Value *Terms::unaryValue(unsigned Op, const Term &X) const {
  Value *Unused = number(64 - X.bits);
  switch (Op) {
  case SF_OP_BSWAP:
    return B->CreateLShr(B->CreateUnaryIntrinsic(Intrinsic::bswap, X.value), Unused);
  case SF_OP_BITREVERSE:
    return B->CreateLShr(B->CreateUnaryIntrinsic(Intrinsic::bitreverse, X.value), Unused);
  case SF_OP_CTPOP:
    return B->CreateUnaryIntrinsic(Intrinsic::ctpop, X.value);
  case SF_OP_CTLZ:
    return B->CreateSub(B->CreateBinaryIntrinsic(Intrinsic::ctlz, X.value, B->getFalse()), Unused);
  default: { // SF_OP_CTTZ
    Value *Count = B->CreateBinaryIntrinsic(Intrinsic::cttz, X.value, B->getFalse());
    return B->CreateSelect(B->CreateICmpEQ(X.value, number(0)), number(X.bits), Count);
  }
  }
}

Term Terms::unary(unsigned Op, const Term &X) const {
  if (!B)
    return {nullptr, nullptr, X.bits};
  Value *L = X.label;
  if (L != RT->NoLabel)
    L = RT->call(*B, "unary", RT->Int32, {packed(Op | X.bits << 8), L, X.value});
  return {L, unaryValue(Op, X), X.bits};
}

Term Terms::zext(const Term &X, unsigned Bits) const {
  if (!B || X.bits == Bits)
    return {X.label, X.value, Bits};
  Value *L = X.label;
  if (L != RT->NoLabel)
    L = RT->call(*B, "cast", RT->Int32,
                 {packed(SF_OP_ZEXT | X.bits << 8 | Bits << 16), L, X.value});
  return {L, X.value, Bits};
}

Term Terms::sext(const Term &X, unsigned Bits) const {
  if (!B || X.bits == Bits)
    return {X.label, X.value, Bits};
  Value *L = X.label;
  if (L != RT->NoLabel)
    L = RT->call(*B, "cast", RT->Int32,
                 {packed(SF_OP_SEXT | X.bits << 8 | Bits << 16), L, X.value});
  return {L, masked(isSigned(X.value, X.bits), Bits), Bits};
}

Term Terms::extract(const Term &X, unsigned Low, unsigned Bits) const {
  if (!B || (Low == 0 && X.bits == Bits))
    return {X.label, X.value, Bits};
  Value *L = X.label;
  if (L != RT->NoLabel)
    L = RT->call(*B, "cast", RT->Int32,
                 {packed(SF_OP_EXTRACT | X.bits << 8 | Bits << 16 | Low << 24), L, X.value});
  return {L, masked(B->CreateLShr(X.value, Low), Bits), Bits};
}

Term Terms::concat(const Term &High, const Term &Low) const {
  const unsigned Bits = High.bits + Low.bits;
  if (!B)
    return {nullptr, nullptr, Bits};
  Value *L = RT->NoLabel;
  if (High.label != RT->NoLabel || Low.label != RT->NoLabel)
    L = RT->call(*B, "concat", RT->Int32,
                 {packed(High.bits | Low.bits << 8), High.label, Low.label, High.value, Low.value});
  return {L, B->CreateOr(B->CreateShl(High.value, Low.bits), Low.value), Bits};
}

Term Terms::choose(const Term &Condition, const Term &Then, const Term &Else) const {
  if (!B)
    return {nullptr, nullptr, Then.bits};
  if (auto *Known = dyn_cast<ConstantInt>(Condition.value); Known && Condition.label == RT->NoLabel)
    return Known->isZero() ? Else : Then;
  Value *L = RT->NoLabel;
  if (Condition.label != RT->NoLabel || Then.label != RT->NoLabel || Else.label != RT->NoLabel)
    L = RT->call(*B, "select", RT->Int32,
                 {packed(Then.bits), Condition.label, Then.label, Else.label, Condition.value,
                  Then.value, Else.value, number(0)});
  Value *Is = B->CreateICmpNE(Condition.value, number(0));
  return {L, B->CreateSelect(Is, Then.value, Else.value), Then.bits};
}

Term Terms::funnel(bool Right, const Term &High, const Term &Low, const Term &Amount) const {
  const unsigned Bits = High.bits;
  if (!B)
    return {nullptr, nullptr, Bits};
  Value *L = RT->NoLabel;
  if (High.label != RT->NoLabel || Low.label != RT->NoLabel || Amount.label != RT->NoLabel)
    L = RT->call(*B, "funnel", RT->Int32,
                 {packed(Bits | (Right ? 0x100 : 0)), High.label, Low.label, Amount.label,
                  High.value, Low.value, Amount.value});
  llvm::Type *T = B->getIntNTy(Bits);
  auto Narrow = [&](Value *V) { return B->CreateTrunc(V, T); };
  Value *V = B->CreateIntrinsic(Right ? Intrinsic::fshr : Intrinsic::fshl, {T},
                                {Narrow(High.value), Narrow(Low.value), Narrow(Amount.value)});
  return {L, B->CreateZExt(V, RT->Int64), Bits};
}

} // namespace symfleet
