#include "AssemblyMachine.h"

#include "symfleet/abi.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace symfleet {

std::string familyOfRegister(StringRef Register) {
  StringRef R = Register;
  std::string Known = StringSwitch<std::string>(R)
                          .Cases("rax", "eax", "ax", "al", "a")
                          .Cases("rbx", "ebx", "bx", "bl", "b")
                          .Cases("rcx", "ecx", "cx", "cl", "c")
                          .Cases("rdx", "edx", "dx", "dl", "d")
                          .Cases("rsi", "esi", "si", "sil", "S")
                          .Cases("rdi", "edi", "di", "dil", "D")
                          .Default("");
  if (!Known.empty() || R.size() < 2 || R[0] != 'r' || !isDigit(R[1]))
    return Known;
  return R.rtrim("dwb").str();
}

unsigned widthOfRegister(StringRef R) {
  if (isDigit(R.size() > 1 ? R[1] : ' '))
    return R.back() == 'd' ? 32 : R.back() == 'w' ? 16 : R.back() == 'b' ? 8 : 64;
  if (R[0] == 'r')
    return 64;
  if (R[0] == 'e')
    return 32;
  return R.back() == 'l' ? 8 : 16;
}

unsigned widthOfLetter(char Letter) {
  switch (Letter) {
  case 'b':
    return 8;
  case 'w':
    return 16;
  case 'k':
  case 'l':
    return 32;
  case 'q':
    return 64;
  default:
    return 0;
  }
}

AsmCell &AssemblyMachine::registerCell(StringRef Family) {
  AsmCell &C = Registers[Family.str()];
  if (!C.bits)
    C.bits = 64;
  return C;
}

std::optional<Term> AssemblyMachine::read(const AsmPlace &P, unsigned Width) {
  if (!P.cell)
    return T.constant(P.immediate, Width);
  if (!P.cell->term || P.cell->term->bits < Width)
    return std::nullopt;
  return T.extract(*P.cell->term, 0, Width);
}

bool AssemblyMachine::write(const AsmPlace &P, const Term &V) {
  if (!P.cell || P.memory)
    return false;
  unsigned Bits = P.cell->bits;
  if (Bits <= V.bits) {
    P.cell->term = T.extract(V, 0, Bits);
  } else if (V.bits == 32) {
    P.cell->term = T.zext(V, Bits);
  } else if (P.cell->term) {
    P.cell->term = T.concat(T.extract(*P.cell->term, V.bits, Bits - V.bits), V);
  } else {
    return false;
  }
  return true;
}
void AssemblyMachine::compared(const Term &Left, const Term &Right) {
  F.left = Left;
  F.right = Right;
  F.onlyZeroAndSign = false;
  F.carry = T.compare(SF_OP_ULT, Left, Right);
}

// After a logical instruction: the result against zero.
void AssemblyMachine::computed(const Term &Result) { compared(Result, T.constant(0, Result.bits)); }

std::optional<Term> AssemblyMachine::condition(StringRef Code) {
  bool Not = Code.size() > 1 && Code.consume_front("n");
  std::optional<Term> Out;
  auto Order = [&](unsigned Op, bool Swapped) {
    if (F.left && !F.onlyZeroAndSign)
      Out = Swapped ? T.compare(Op, *F.right, *F.left) : T.compare(Op, *F.left, *F.right);
  };
  if (Code == "e" || Code == "z") {
    if (F.left)
      Out = T.compare(SF_OP_EQ, *F.left, *F.right);
  } else if (Code == "c" || Code == "b") {
    Out = F.carry;
  } else if (Code == "ae") {
    Out = F.carry;
    Not = !Not;
  } else if (Code == "a") {
    Order(SF_OP_ULT, true);
  } else if (Code == "be") {
    Order(SF_OP_ULE, false);
  } else if (Code == "l") {
    Order(SF_OP_SLT, false);
  } else if (Code == "le") {
    Order(SF_OP_SLE, false);
  } else if (Code == "g") {
    Order(SF_OP_SLT, true);
  } else if (Code == "ge") {
    Order(SF_OP_SLE, true);
  } else if (Code == "s" && F.left) {
    Term Result = T.binary(SF_OP_SUB, *F.left, *F.right);
    Out = T.extract(Result, Result.bits - 1, 1);
  }
  if (Out && Not)
    Out = T.flip(*Out);
  return Out;
}

bool AssemblyMachine::moves(StringRef Name, Places P) {
  if (P.size() != 2 || Name.size() != 6 || (Name[3] != 'z' && Name[3] != 's'))
    return false;
  unsigned From = widthOfLetter(Name[4]), To = widthOfLetter(Name[5]);
  if (!From || !To || From >= To)
    return false;
  std::optional<Term> X = read(P[0], From);
  return X && write(P[1], Name[3] == 'z' ? T.zext(*X, To) : T.sext(*X, To));
}

bool AssemblyMachine::twoOperands(StringRef Base, unsigned Width, Places P) {
  std::optional<Term> X = read(P[0], Width), Y = Base == "mov" ? X : read(P[1], Width);
  if (!X || !Y)
    return false;
  if (Base == "mov")
    return write(P[1], *X);
  if (Base == "cmp" || Base == "test") {
    if (Base == "cmp")
      compared(*Y, *X);
    else
      computed(T.binary(SF_OP_AND, *Y, *X));
    return true;
  }
  unsigned Logical = StringSwitch<unsigned>(Base)
                         .Case("and", SF_OP_AND)
                         .Case("or", SF_OP_OR)
                         .Case("xor", SF_OP_XOR)
                         .Default(0);
  if (Logical) {
    bool Cleared = Base == "xor" && P[0].cell && P[0].cell == P[1].cell;
    Term Result = Cleared ? T.constant(0, Width) : T.binary(Logical, *Y, *X);
    computed(Result);
    return write(P[1], Result);
  }
  return addition(Base, *X, *Y, P[1]);
}

bool AssemblyMachine::addition(StringRef Base, const Term &X, const Term &Y, AsmPlace &Target) {
  const bool Adds = Base == "add" || Base == "adc";
  if (!Adds && Base != "sub" && Base != "sbb")
    return false;
  Term Carry = T.constant(0, 1);
  if (Base == "adc" || Base == "sbb") {
    if (!F.carry)
      return false;
    Carry = *F.carry;
  }
  Term In = T.zext(Carry, X.bits);
  Term Part = T.binary(Adds ? SF_OP_ADD : SF_OP_SUB, Y, X);
  Term Result = T.binary(Adds ? SF_OP_ADD : SF_OP_SUB, Part, In);
  Term First = T.compare(Adds ? SF_OP_UADDO : SF_OP_USUBO, Y, X);
  Term Second = T.compare(Adds ? SF_OP_UADDO : SF_OP_USUBO, Part, In);
  computed(Result);
  if (Base == "sub")
    compared(Y, X);
  F.onlyZeroAndSign = Base != "sub";
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
  Term Result = T.binary(Base == "inc" ? SF_OP_ADD : SF_OP_SUB, *X, T.constant(1, Width));
  computed(Result);
  F.onlyZeroAndSign = true;
  F.carry = Carry;
  return write(P[0], Result);
}

bool AssemblyMachine::shift(StringRef Base, unsigned Width, Places P) {
  AsmPlace By, &Target = P.back();
  By.immediate = 1;
  if (P.size() == 2)
    By = P[0];
  std::optional<Term> X = read(Target, Width), Amount = read(By, 8);
  if (!X || !Amount)
    return false;
  Term Masked = T.binary(SF_OP_AND, *Amount, T.constant(Width == 64 ? 63 : 31, 8));
  Masked = Width > 8 ? T.zext(Masked, Width) : Masked;
  F = Flags(); // an amount of zero leaves them: nobody relies on that
  if (Base == "rol" || Base == "ror")
    return write(Target, T.funnel(Base == "ror", *X, *X, Masked));
  unsigned Op = Base == "shr" ? SF_OP_LSHR : Base == "sar" ? SF_OP_ASHR : SF_OP_SHL;
  return write(Target, T.binary(Op, *X, Masked));
}

bool AssemblyMachine::multiply(bool Signed, unsigned Width, Places P) {
  F = Flags();
  if (Signed && (P.size() == 2 || P.size() == 3)) {
    std::optional<Term> X = read(P[0], Width), Y = read(P[1], Width);
    return X && Y && write(P.back(), T.binary(SF_OP_MUL, *X, *Y));
  }
  if (Signed || P.size() != 1 || Width < 16)
    return false;
  AsmPlace A, D;
  A.cell = &registerCell("a");
  D.cell = &registerCell("d");
  std::optional<Term> X = read(P[0], Width), Y = read(A, Width);
  if (!X || !Y)
    return false;
  Term High = T.binary(SF_OP_UMULH, *X, *Y);
  return write(A, T.binary(SF_OP_MUL, *X, *Y)) && write(D, High);
}

bool AssemblyMachine::counts(StringRef Base, unsigned Width, Places P) {
  std::optional<Term> X = read(P[0], Width);
  if (!X)
    return false;
  F = Flags();
  F.left = *X; // the zero flag of bsf and bsr
  F.right = T.constant(0, Width);
  F.onlyZeroAndSign = true;
  unsigned Op = Base == "popcnt"                   ? SF_OP_CTPOP
                : Base == "lzcnt" || Base == "bsr" ? SF_OP_CTLZ
                                                   : SF_OP_CTTZ;
  Term Count = T.unary(Op, *X);
  if (Base == "bsf" || Base == "bsr") { // 0 leaves the target as it is
    Term Found = Base == "bsf" ? Count : T.binary(SF_OP_SUB, T.constant(Width - 1, Width), Count);
    std::optional<Term> Before = read(P[1], Width);
    Count =
        T.choose(T.compare(SF_OP_NE, *X, T.constant(0, Width)), Found, Before ? *Before : Found);
  }
  return write(P[1], Count);
}

bool AssemblyMachine::exchange(unsigned Width, Places P) {
  std::optional<Term> X = read(P[0], Width), Y = read(P[1], Width);
  return X && Y && write(P[0], *Y) && write(P[1], *X);
}

bool AssemblyMachine::instruction(StringRef Name, Places P) {
  static constexpr StringRef Two[] = {"mov", "add", "adc", "sub", "sbb",
                                      "and", "or",  "xor", "cmp", "test"};
  static constexpr StringRef One[] = {"bswap", "not", "neg", "inc", "dec"};
  static constexpr StringRef Shifts[] = {"shl", "sal", "shr", "sar", "rol", "ror"};
  static constexpr StringRef Count[] = {"bsf", "bsr", "popcnt", "lzcnt", "tzcnt"};
  static constexpr StringRef Others[] = {"mul", "imul", "xchg"};
  static constexpr StringRef Nothing[] = {"nop", "pause", "mfence", "lfence", "sfence", "cld"};
  if (P.empty())
    return is_contained(Nothing, Name);
  StringRef Code = Name;
  if (Code.consume_front("set") && P.size() == 1) {
    std::optional<Term> Bit = condition(Code);
    return Bit && write(P[0], T.zext(*Bit, 8));
  }
  if (Name.size() == 6 && (Name.take_front(4) == "movz" || Name.take_front(4) == "movs"))
    return moves(Name, P);
  auto Known = [&](StringRef Base) {
    return is_contained(Two, Base) || is_contained(One, Base) || is_contained(Shifts, Base) ||
           is_contained(Count, Base) || is_contained(Others, Base);
  };
  StringRef Base = Name;
  unsigned Width = P.back().width;
  if (!Known(Base)) {
    Base = Name.drop_back();
    Width = Known(Base) ? widthOfLetter(Name.back()) : 0;
  }
  if (!Width || (Base != Name && P.back().width && !P.back().memory && P.back().width != Width))
    return false;
  if (is_contained(Shifts, Base))
    return P.size() <= 2 && shift(Base, Width, P);
  if (is_contained(One, Base))
    return P.size() == 1 && oneOperand(Base, Width, P);
  if (Base == "mul" || Base == "imul")
    return multiply(Base == "imul", Width, P);
  if (P.size() != 2 || (P[0].width && P[0].width != Width && !P[0].memory))
    return false;
  if (is_contained(Count, Base))
    return counts(Base, Width, P);
  return Base == "xchg" ? exchange(Width, P) : twoOperands(Base, Width, P);
}

} // namespace symfleet
