// Inline assembly: moves, sums, products, quotients and exchanges.
#include "AssemblyMachine.h"

#include "symfleet/abi.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace symfleet {

static bool isSame(const AsmPlace &X, const AsmPlace &Y) {
  return X.cell && X.cell == Y.cell && X.low == Y.low;
}

bool AssemblyMachine::twoOperands(StringRef Base, unsigned Width, Places P) {
  std::optional<Term> X, Y;
  if (isSame(P[0], P[1]) && (Base == "xor" || Base == "sub" || Base == "sbb"))
    X = Y = T.constant(0, Width); // whatever it held
  else
    X = read(P[0], Width);
  if (!X)
    return false;
  if (Base == "mov")
    return write(P[1], *X);
  if (!Y)
    Y = read(P[1], Width);
  if (!Y)
    return false;
  if (Base == "cmp") {
    compared(*Y, *X);
    return true;
  }
  if (Base == "test") {
    computed(T.binary(SF_OP_AND, *Y, *X));
    return true;
  }
  unsigned Logical = StringSwitch<unsigned>(Base)
                         .Case("and", SF_OP_AND)
                         .Case("or", SF_OP_OR)
                         .Case("xor", SF_OP_XOR)
                         .Default(0);
  if (!Logical)
    return addition(Base, *X, *Y, P[1]);
  Term Result = T.binary(Logical, *Y, *X);
  computed(Result);
  return write(P[1], Result);
}

bool AssemblyMachine::addition(StringRef Base, const Term &X, const Term &Y, AsmPlace &Target) {
  const bool Adds = Base == "add" || Base == "adc";
  const unsigned Op = Adds ? SF_OP_ADD : SF_OP_SUB, Carries = Adds ? SF_OP_UADDO : SF_OP_USUBO;
  Term Part = T.binary(Op, Y, X);
  if (Base == "sub") {
    compared(Y, X);
    return write(Target, Part);
  }
  if (Base == "add") {
    computed(Part);
    F.carry = T.compare(Carries, Y, X);
    F.overflow = SF_OP_SADDO;
    F.first = Y;
    F.second = X;
    F.ordered = false;
    return write(Target, Part);
  }
  if (!F.carry)
    return false;
  Term In = T.zext(*F.carry, X.bits);
  Term Result = T.binary(Op, Part, In);
  Term First = T.compare(Carries, Y, X), Second = T.compare(Carries, Part, In);
  computed(Result);
  F.ordered = false;
  F.overflow = 0;
  F.carry = T.binary(SF_OP_OR, First, Second);
  return write(Target, Result);
}

bool AssemblyMachine::oneOperand(StringRef Base, unsigned Width, Places P) {
  std::optional<Term> X = read(P[0], Width);
  if (!X)
    return false;
  if (Base == "bswap")
    return Width >= 32 && write(P[0], T.unary(SF_OP_BSWAP, *X));
  if (Base == "not")
    return write(P[0], T.binary(SF_OP_XOR, *X, T.constant(~0ull, Width)));
  if (Base == "neg") {
    compared(T.constant(0, Width), *X);
    return write(P[0], T.binary(SF_OP_SUB, T.constant(0, Width), *X));
  }
  std::optional<Term> Carry = F.carry; // stays
  const bool Adds = Base == "inc";
  Term Result = T.binary(Adds ? SF_OP_ADD : SF_OP_SUB, *X, T.constant(1, Width));
  computed(Result);
  F.ordered = false;
  F.overflow = Adds ? SF_OP_SADDO : SF_OP_SSUBO;
  F.first = *X;
  F.second = T.constant(1, Width);
  F.carry = Carry;
  return write(P[0], Result);
}

bool AssemblyMachine::multiply(bool Signed, unsigned Width, Places P) {
  AsmPlace Other = P.size() == 1 ? registerPlace("a", Width) : P[P.size() == 3 ? 1 : P.size() - 1];
  if (Width < 16 || P.size() > 3 || (!Signed && P.size() != 1))
    return false;
  std::optional<Term> X = read(P[0], Width), Y = read(Other, Width);
  if (!X || !Y)
    return false;
  F = Flags();
  F.overflow = Signed ? SF_OP_SMULO : SF_OP_UMULO;
  F.first = *X;
  F.second = *Y;
  F.carry = T.compare(F.overflow, *X, *Y);
  Term Product = T.binary(SF_OP_MUL, *X, *Y);
  if (P.size() != 1)
    return write(P.back(), Product);
  Term High = T.binary(SF_OP_UMULH, *X, *Y);
  if (Signed) { // a negative factor counts 2^Width too much
    Term Last = T.constant(Width - 1, Width);
    Term OfX = T.binary(SF_OP_AND, T.binary(SF_OP_ASHR, *X, Last), *Y);
    Term OfY = T.binary(SF_OP_AND, T.binary(SF_OP_ASHR, *Y, Last), *X);
    High = T.binary(SF_OP_SUB, T.binary(SF_OP_SUB, High, OfX), OfY);
  }
  return write(Other, Product) && write(registerPlace("d", Width), High);
}

// mulx: the product with d, no flags.
bool AssemblyMachine::multiplyWithoutFlags(unsigned Width, Places P) {
  std::optional<Term> X = read(P[0], Width), Y = read(registerPlace("d", Width), Width);
  return X && Y && Width >= 32 && write(P[1], T.binary(SF_OP_MUL, *X, *Y)) &&
         write(P[2], T.binary(SF_OP_UMULH, *X, *Y));
}

// What would trap has trapped: here the quotient fits.
bool AssemblyMachine::divide(bool Signed, unsigned Width, Places P) {
  AsmPlace A = registerPlace("a", Width), D = registerPlace("d", Width);
  std::optional<Term> By = read(P[0], Width), Low = read(A, Width), High = read(D, Width);
  if (!By || !Low || !High || Width < 16)
    return false;
  std::optional<Term> Quotient, Rest;
  if (!Signed) {
    Quotient = T.divide(SF_OP_UDIVW, *High, *Low, *By);
    Rest = T.divide(SF_OP_UREMW, *High, *Low, *By);
  } else if (SignAbove && SignWidth == Width) {
    Quotient = T.binary(SF_OP_SDIV, *Low, *By);
    Rest = T.binary(SF_OP_SREM, *Low, *By);
  } else if (Width <= 32) {
    Term Whole = T.concat(*High, *Low), Wide = T.sext(*By, 2 * Width);
    Quotient = T.extract(T.binary(SF_OP_SDIV, Whole, Wide), 0, Width);
    Rest = T.extract(T.binary(SF_OP_SREM, Whole, Wide), 0, Width);
  } else {
    return false;
  }
  F = Flags();
  return write(A, *Quotient) && write(D, *Rest);
}

bool AssemblyMachine::exchange(unsigned Width, Places P) {
  std::optional<Term> X = read(P[0], Width), Y = read(P[1], Width);
  return X && Y && write(P[0], *Y) && write(P[1], *X);
}

bool AssemblyMachine::exchangeAdd(unsigned Width, Places P) {
  std::optional<Term> X = read(P[0], Width), Y = read(P[1], Width);
  if (P[0].memory || !X || !Y)
    return false;
  AsmPlace Sum = P[1];
  Term Before = *Y;
  return write(P[0], Before) && addition("add", *X, Before, Sum);
}

bool AssemblyMachine::compareExchange(unsigned Width, Places P) {
  AsmPlace A = registerPlace("a", Width);
  std::optional<Term> New = read(P[0], Width), Held = read(P[1], Width), Wanted = read(A, Width);
  if (P[0].memory || !New || !Held || !Wanted || A.cell == P[1].cell || A.cell->bits != Width)
    return false; // of a wider a the rest changes only if they are different
  compared(*Wanted, *Held);
  Term Is = T.compare(SF_OP_EQ, *Wanted, *Held);
  return write(A, *Held) && write(P[1], T.choose(Is, *New, *Held));
}

} // namespace symfleet
