// Inline assembly: shifts, rotates, counts and single bits.
#include "AssemblyMachine.h"

#include "symfleet/abi.h"

using namespace llvm;

namespace symfleet {

bool AssemblyMachine::shift(StringRef Base, unsigned Width, Places P) {
  AsmPlace By, &Target = P.back();
  By.immediate = 1;
  if (P.size() == 2)
    By = P[0];
  std::optional<Term> X = read(Target, Width), Amount = read(By, 8);
  if (!X || !Amount)
    return false;
  const unsigned Mask = Width == 64 ? 63 : 31;
  Term Masked = T.binary(SF_OP_AND, *Amount, T.constant(Mask, 8));
  Masked = Width > 8 ? T.zext(Masked, Width) : Masked;
  if (Base == "rol" || Base == "ror") {
    F = Flags();
    return write(Target, T.funnel(Base == "ror", *X, *X, Masked));
  }
  unsigned Op = Base == "shr" ? SF_OP_LSHR : Base == "sar" ? SF_OP_ASHR : SF_OP_SHL;
  Term Result = T.binary(Op, *X, Masked);
  if (!By.cell)
    flagsOfShift(Base, *X, Result, unsigned(By.immediate & Mask));
  else
    F = Flags(); // an amount of zero leaves them: nobody relies on that
  return write(Target, Result);
}

// The last bit that went out is the carry; an amount of zero changes nothing.
void AssemblyMachine::flagsOfShift(StringRef Base, const Term &X, const Term &Result,
                                   unsigned Amount) {
  if (Amount == 0)
    return;
  computed(Result);
  F.ordered = false;
  F.overflow = 0;
  F.carry.reset();
  if (Amount <= X.bits) {
    bool Up = Base != "shr" && Base != "sar";
    F.carry = T.extract(X, Up ? X.bits - Amount : Amount - 1, 1);
  }
}

// shld, shrd: what comes in are the bits of another register.
bool AssemblyMachine::doubleShift(bool Right, unsigned Width, Places P) {
  std::optional<Term> Amount = read(P[0], 8), Other = read(P[1], Width), X = read(P[2], Width);
  if (!Amount || !Other || !X || Width < 32)
    return false;
  Term Masked = T.zext(T.binary(SF_OP_AND, *Amount, T.constant(Width - 1, 8)), Width);
  F = Flags();
  return write(P[2],
               Right ? T.funnel(true, *Other, *X, Masked) : T.funnel(false, *X, *Other, Masked));
}

// rorx, sarx, shlx, shrx.
bool AssemblyMachine::shiftWithoutFlags(StringRef Base, unsigned Width, Places P) {
  std::optional<Term> Amount = read(P[0], P[0].cell ? Width : 8), X = read(P[1], Width);
  if (!Amount || !X || Width < 32)
    return false;
  Term Masked = T.zext(T.extract(*Amount, 0, Width == 64 ? 6 : 5), Width);
  if (Base == "rorx")
    return write(P[2], T.funnel(true, *X, *X, Masked));
  unsigned Op = Base == "shrx" ? SF_OP_LSHR : Base == "sarx" ? SF_OP_ASHR : SF_OP_SHL;
  return write(P[2], T.binary(Op, *X, Masked));
}

bool AssemblyMachine::counts(StringRef Base, unsigned Width, Places P) {
  std::optional<Term> X = read(P[0], Width);
  if (!X || Width < 16)
    return false;
  const bool Scans = Base == "bsf" || Base == "bsr";
  unsigned Op = Base == "popcnt"                   ? SF_OP_CTPOP
                : Base == "lzcnt" || Base == "bsr" ? SF_OP_CTLZ
                                                   : SF_OP_CTTZ;
  Term Count = T.unary(Op, *X);
  if (Scans) { // 0 leaves the target as it is
    Term Found = Base == "bsf" ? Count : T.binary(SF_OP_SUB, T.constant(Width - 1, Width), Count);
    std::optional<Term> Before = read(P[1], Width);
    Term Some = T.compare(SF_OP_NE, *X, T.constant(0, Width));
    zeroOf(*X);
    return write(P[1], T.choose(Some, Found, Before ? *Before : Found));
  }
  zeroOf(Count);
  F.carry = Base == "popcnt" ? T.constant(0, 1) : T.compare(SF_OP_EQ, *X, T.constant(0, Width));
  return write(P[1], Count);
}

// bt, bts, btr, btc. A number in a register reaches beyond an operand in memory.
bool AssemblyMachine::testBit(StringRef Base, unsigned Width, Places P) {
  if (P[1].memory && P[0].cell)
    return false;
  std::optional<Term> Number = read(P[0], Width), X = read(P[1], Width);
  if (!Number || !X || Width < 16)
    return false;
  Term At = T.binary(SF_OP_AND, *Number, T.constant(Width - 1, Width));
  Term Bit = T.binary(SF_OP_SHL, T.constant(1, Width), At);
  F = Flags(); // zero stays in truth: nobody relies on that
  F.carry = T.extract(T.binary(SF_OP_LSHR, *X, At), 0, 1);
  if (Base == "bt")
    return true;
  if (Base == "bts")
    return write(P[1], T.binary(SF_OP_OR, *X, Bit));
  if (Base == "btc")
    return write(P[1], T.binary(SF_OP_XOR, *X, Bit));
  Term Others = T.binary(SF_OP_XOR, Bit, T.constant(~0ull, Width));
  return write(P[1], T.binary(SF_OP_AND, *X, Others));
}

bool AssemblyMachine::andNot(unsigned Width, Places P) {
  std::optional<Term> X = read(P[0], Width), Y = read(P[1], Width);
  if (!X || !Y || Width < 32)
    return false;
  Term Result = T.binary(SF_OP_AND, *X, T.binary(SF_OP_XOR, *Y, T.constant(~0ull, Width)));
  computed(Result);
  return write(P[2], Result);
}

// blsr, blsi, blsmsk.
bool AssemblyMachine::lowestBit(StringRef Base, unsigned Width, Places P) {
  std::optional<Term> X = read(P[0], Width);
  if (!X || Width < 32)
    return false;
  Term Zero = T.constant(0, Width), Below = T.binary(SF_OP_SUB, *X, T.constant(1, Width));
  F = Flags();
  if (Base == "blsi")
    return write(P[1], T.binary(SF_OP_AND, *X, T.binary(SF_OP_SUB, Zero, *X)));
  return write(P[1], T.binary(Base == "blsr" ? SF_OP_AND : SF_OP_XOR, *X, Below));
}

} // namespace symfleet
