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
                          .Cases("rax", "eax", "ax", "al", "ah", "a")
                          .Cases("rbx", "ebx", "bx", "bl", "bh", "b")
                          .Cases("rcx", "ecx", "cx", "cl", "ch", "c")
                          .Cases("rdx", "edx", "dx", "dl", "dh", "d")
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
  return R.back() == 'l' || R.back() == 'h' ? 8 : 16;
}

unsigned lowOfRegister(StringRef R) { return R.size() == 2 && R.back() == 'h' ? 8 : 0; }

unsigned widthOfLetter(char Letter) {
  switch (Letter) {
  case 'b':
  case 'h':
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

AsmPlace AssemblyMachine::registerPlace(StringRef Family, unsigned Width) {
  AsmPlace P;
  P.cell = &registerCell(Family);
  P.width = Width;
  return P;
}

// Whether the text may have written it by another name.
bool AssemblyMachine::isOverwritten(const AsmCell &C) const {
  return any_of(WrittenMemory,
                [&](const AsmCell *Each) { return Each != &C && !C.apart.count(Each); });
}

std::optional<Term> AssemblyMachine::read(const AsmPlace &P, unsigned Width) {
  if (P.address)
    return std::nullopt;
  if (!P.cell)
    return T.constant(P.immediate, Width);
  if (!P.cell->term || P.cell->term->bits < P.low + Width)
    return std::nullopt;
  if (P.memory && isOverwritten(*P.cell))
    return std::nullopt;
  return T.extract(*P.cell->term, P.low, Width);
}

bool AssemblyMachine::write(const AsmPlace &P, const Term &V) {
  if (!P.cell)
    return false;
  AsmCell &C = *P.cell;
  const unsigned Held = C.term ? C.term->bits : 0;
  if (P.low) {
    if (Held < P.low + V.bits)
      return false;
    Term Low = T.concat(V, T.extract(*C.term, 0, P.low));
    C.term = Held == Low.bits ? Low : T.concat(T.extract(*C.term, Low.bits, Held - Low.bits), Low);
  } else if (P.memory &&
             (V.bits > C.bits || (V.bits < C.bits && (Held <= V.bits || isOverwritten(C))))) {
    return false;
  } else if (C.bits <= V.bits) {
    C.term = T.extract(V, 0, C.bits);
  } else if (V.bits == 32 && !P.memory) {
    C.term = T.zext(V, C.bits);
  } else {
    C.term = Held > V.bits ? T.concat(T.extract(*C.term, V.bits, Held - V.bits), V) : V;
  }
  if (P.memory) {
    C.written = ++Writes;
    WrittenMemory.push_back(&C);
  }
  if (&C == &registerCell("a") || &C == &registerCell("d"))
    SignAbove = false;
  return true;
}

// movz.., movs..
bool AssemblyMachine::moves(StringRef Name, Places P) {
  unsigned From = widthOfLetter(Name[4]), To = widthOfLetter(Name[5]);
  if (P.size() != 2 || !From || !To || From >= To)
    return false;
  std::optional<Term> X = read(P[0], From);
  return X && write(P[1], Name[3] == 'z' ? T.zext(*X, To) : T.sext(*X, To));
}

// cmov.., with a suffix of width or without.
bool AssemblyMachine::conditional(StringRef Code, Places P) {
  if (P.size() != 2 || P[1].memory || P[1].width < 16)
    return false;
  std::optional<Term> Bit = condition(Code);
  if (!Bit && Code.size() > 1 && widthOfLetter(Code.back()) == P[1].width)
    Bit = condition(Code.drop_back());
  std::optional<Term> X = read(P[0], P[1].width), Y = read(P[1], P[1].width);
  return Bit && X && Y && write(P[1], T.choose(*Bit, *X, *Y));
}

// Sign extensions inside a, or from a to d.
bool AssemblyMachine::extends(StringRef Name) {
  unsigned Inside = StringSwitch<unsigned>(Name)
                        .Cases("cltq", "cdqe", 32)
                        .Cases("cwtl", "cwde", 16)
                        .Cases("cbtw", "cbw", 8)
                        .Default(0);
  unsigned Above = StringSwitch<unsigned>(Name)
                       .Cases("cqto", "cqo", 64)
                       .Cases("cltd", "cdq", 32)
                       .Cases("cwtd", "cwd", 16)
                       .Default(0);
  if (Inside) {
    std::optional<Term> X = read(registerPlace("a", Inside), Inside);
    return X && write(registerPlace("a", 2 * Inside), T.sext(*X, 2 * Inside));
  }
  if (!Above)
    return false;
  std::optional<Term> X = read(registerPlace("a", Above), Above);
  if (!X ||
      !write(registerPlace("d", Above), T.binary(SF_OP_ASHR, *X, T.constant(Above - 1, Above))))
    return false;
  SignAbove = true;
  SignWidth = Above;
  return true;
}

bool AssemblyMachine::withoutOperands(StringRef Name) {
  static constexpr StringRef Nothing[] = {"nop",    "pause", "mfence",  "lfence",
                                          "sfence", "cld",   "endbr64", "lock"};
  if (Name == "clc" || Name == "stc") {
    F.carry = T.constant(Name == "stc", 1);
    F.ordered = false;
    return true;
  }
  return is_contained(Nothing, Name) || extends(Name);
}

bool AssemblyMachine::loadAddress(unsigned Width, Places P) {
  const AsmPlace &A = P[0];
  if (!A.address || A.ofStack || P[1].memory || Width < 16)
    return false;
  std::optional<Term> Sum = T.constant(A.immediate, A.width);
  auto Add = [&](AsmCell *Cell, unsigned Scale) {
    AsmPlace Part;
    Part.cell = Cell;
    std::optional<Term> X = Sum && Cell ? read(Part, A.width) : std::nullopt;
    if (Cell)
      Sum = X ? std::optional<Term>(
                    T.binary(SF_OP_ADD, *Sum, T.binary(SF_OP_MUL, *X, T.constant(Scale, A.width))))
              : std::nullopt;
  };
  Add(A.base, 1);
  Add(A.index, A.scale);
  if (!Sum)
    return false;
  return write(P[1], Width > A.width ? T.zext(*Sum, Width) : T.extract(*Sum, 0, Width));
}

namespace {
enum class AsmKind {
  Unknown,
  Two,
  One,
  Shift,
  DoubleShift,
  PlainShift,
  Count,
  Bit,
  LowestBit,
  AndNot,
  Multiply,
  PlainMultiply,
  Divide,
  Exchange,
  ExchangeAdd,
  CompareExchange,
  Address,
};
} // namespace

static AsmKind instructionKind(StringRef Base) {
  return StringSwitch<AsmKind>(Base)
      .Cases("mov", "movabs", "add", "adc", "sub", "sbb", "and", "or", "xor", "cmp", AsmKind::Two)
      .Case("test", AsmKind::Two)
      .Cases("bswap", "not", "neg", "inc", "dec", AsmKind::One)
      .Cases("shl", "sal", "shr", "sar", "rol", "ror", AsmKind::Shift)
      .Cases("shld", "shrd", AsmKind::DoubleShift)
      .Cases("rorx", "sarx", "shlx", "shrx", AsmKind::PlainShift)
      .Cases("bsf", "bsr", "popcnt", "lzcnt", "tzcnt", AsmKind::Count)
      .Cases("bt", "bts", "btr", "btc", AsmKind::Bit)
      .Cases("blsr", "blsi", "blsmsk", AsmKind::LowestBit)
      .Case("andn", AsmKind::AndNot)
      .Cases("mul", "imul", AsmKind::Multiply)
      .Case("mulx", AsmKind::PlainMultiply)
      .Cases("div", "idiv", AsmKind::Divide)
      .Case("xchg", AsmKind::Exchange)
      .Case("xadd", AsmKind::ExchangeAdd)
      .Case("cmpxchg", AsmKind::CompareExchange)
      .Case("lea", AsmKind::Address)
      .Default(AsmKind::Unknown);
}

// How many operands there may be.
static std::pair<unsigned, unsigned> operandsOf(AsmKind K) {
  switch (K) {
  case AsmKind::One:
  case AsmKind::Divide:
    return {1, 1};
  case AsmKind::Shift:
    return {1, 2};
  case AsmKind::Multiply:
    return {1, 3};
  case AsmKind::DoubleShift:
  case AsmKind::PlainShift:
  case AsmKind::AndNot:
  case AsmKind::PlainMultiply:
    return {3, 3};
  default:
    return {2, 2};
  }
}

bool AssemblyMachine::withWidth(StringRef Base, unsigned Width, Places P) {
  switch (instructionKind(Base)) {
  case AsmKind::Two:
    return twoOperands(Base == "movabs" ? "mov" : Base, Width, P);
  case AsmKind::One:
    return oneOperand(Base, Width, P);
  case AsmKind::Shift:
    return shift(Base, Width, P);
  case AsmKind::DoubleShift:
    return doubleShift(Base == "shrd", Width, P);
  case AsmKind::PlainShift:
    return shiftWithoutFlags(Base, Width, P);
  case AsmKind::Count:
    return counts(Base, Width, P);
  case AsmKind::Bit:
    return testBit(Base, Width, P);
  case AsmKind::LowestBit:
    return lowestBit(Base, Width, P);
  case AsmKind::AndNot:
    return andNot(Width, P);
  case AsmKind::Multiply:
    return multiply(Base == "imul", Width, P);
  case AsmKind::PlainMultiply:
    return multiplyWithoutFlags(Width, P);
  case AsmKind::Divide:
    return divide(Base == "idiv", Width, P);
  case AsmKind::Exchange:
    return exchange(Width, P);
  case AsmKind::ExchangeAdd:
    return exchangeAdd(Width, P);
  case AsmKind::CompareExchange:
    return compareExchange(Width, P);
  case AsmKind::Address:
    return loadAddress(Width, P);
  case AsmKind::Unknown:
    return false;
  }
  return false;
}

// `lock addl $0, (%rsp)`: a barrier.
static bool isBarrier(StringRef Base, MutableArrayRef<AsmPlace> P) {
  return (Base == "add" || Base == "or") && P[1].address && P[1].ofStack && !P[1].index &&
         !P[0].cell && !P[0].address && P[0].immediate == 0;
}

bool AssemblyMachine::instruction(StringRef Name, Places P) {
  if (P.empty())
    return withoutOperands(Name);
  StringRef Code = Name;
  if (Code.consume_front("set") && P.size() == 1) {
    std::optional<Term> Bit = condition(Code);
    return Bit && write(P[0], T.zext(*Bit, 8));
  }
  if (Code.consume_front("cmov"))
    return conditional(Code, P);
  if (Name.size() == 6 && (Name.take_front(4) == "movz" || Name.take_front(4) == "movs"))
    return moves(Name, P);
  StringRef Base = Name;
  unsigned Width = 0;
  if (instructionKind(Base) == AsmKind::Unknown) {
    Base = Name.drop_back();
    Width = widthOfLetter(Name.back());
    if (!Width || Name.back() == 'h' || Name.back() == 'k')
      return false;
  } else { // of the last register
    for (const AsmPlace &Each : P)
      Width = Each.cell && !Each.memory ? Each.width : Width;
  }
  const AsmKind K = instructionKind(Base);
  auto [Least, Most] = operandsOf(K);
  if (K == AsmKind::Unknown || !Width || P.size() < Least || P.size() > Most)
    return false;
  const bool Counted = P.size() > 1 && (K == AsmKind::Shift || K == AsmKind::DoubleShift);
  for (const AsmPlace &Each : P.drop_front(Counted))
    if (Each.cell && !Each.memory && Each.width != Width)
      return false;
  if (K == AsmKind::Two && isBarrier(Base, P)) {
    F = Flags();
    return true;
  }
  return withWidth(Base, Width, P);
}

} // namespace symfleet
