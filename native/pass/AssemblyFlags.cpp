// Flags: what instructions leave of them, and what condition codes say.
#include "AssemblyMachine.h"

#include "symfleet/abi.h"

using namespace llvm;

namespace symfleet {

void AssemblyMachine::compared(const Term &Left, const Term &Right) {
  F = Flags();
  F.left = F.first = Left;
  F.right = F.second = Right;
  F.ordered = true;
  F.overflow = SF_OP_SSUBO;
  F.carry = T.compare(SF_OP_ULT, Left, Right);
}

// After a logical instruction: the result against zero, neither carry nor
// overflow.
void AssemblyMachine::computed(const Term &Result) { compared(Result, T.constant(0, Result.bits)); }

// The zero flag says whether X is zero; nothing else is known.
void AssemblyMachine::zeroOf(const Term &X) {
  F = Flags();
  F.left = X;
  F.right = T.constant(0, X.bits);
  F.onlyZero = true;
}

std::optional<Term> AssemblyMachine::sign() {
  if (!F.left || F.onlyZero)
    return std::nullopt;
  Term Result = T.binary(SF_OP_SUB, *F.left, *F.right);
  return T.extract(Result, Result.bits - 1, 1);
}

std::optional<Term> AssemblyMachine::overflowed() {
  if (!F.overflow)
    return std::nullopt;
  return T.compare(F.overflow, *F.first, *F.second);
}

// One without a negation.
std::optional<Term> AssemblyMachine::plainCondition(StringRef Code) {
  auto Both = [&](unsigned Op, std::optional<Term> X, std::optional<Term> Y) {
    return X && Y ? std::optional<Term>(T.binary(Op, *X, *Y)) : std::nullopt;
  };
  if (Code == "b" || Code == "c")
    return F.carry;
  if (Code == "o")
    return overflowed();
  if (Code == "s")
    return sign();
  if (Code == "p" || Code == "pe") {
    if (!F.left || F.onlyZero)
      return std::nullopt;
    Term Result = T.extract(T.binary(SF_OP_SUB, *F.left, *F.right), 0, 8);
    return T.flip(T.extract(T.unary(SF_OP_CTPOP, Result), 0, 1));
  }
  if (Code == "l")
    return F.ordered ? T.compare(SF_OP_SLT, *F.left, *F.right)
                     : Both(SF_OP_XOR, sign(), overflowed());
  if (!F.left)
    return std::nullopt;
  if (Code == "e" || Code == "z")
    return T.compare(SF_OP_EQ, *F.left, *F.right);
  if (Code == "be")
    return F.ordered ? T.compare(SF_OP_ULE, *F.left, *F.right)
                     : Both(SF_OP_OR, F.carry, plainCondition("e"));
  if (Code == "le")
    return F.ordered ? T.compare(SF_OP_SLE, *F.left, *F.right)
                     : Both(SF_OP_OR, plainCondition("l"), plainCondition("e"));
  return std::nullopt;
}

std::optional<Term> AssemblyMachine::condition(StringRef Code) {
  bool Not = Code.size() > 1 && Code.consume_front("n");
  StringRef Opposite = Code == "ae"   ? "b"
                       : Code == "a"  ? "be"
                       : Code == "g"  ? "le"
                       : Code == "ge" ? "l"
                       : Code == "po" ? "p"
                                      : "";
  std::optional<Term> Out = plainCondition(Opposite.empty() ? Code : Opposite);
  if (Out && Not == Opposite.empty())
    Out = T.flip(*Out);
  return Out;
}

} // namespace symfleet
