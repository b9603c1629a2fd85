#include "InlineAssembly.h"
#include "AssemblyMachine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

#include <map>
#include <optional>
#include <string>

using namespace llvm;

namespace symfleet {

// The type of the memory that a constraint names.
static Type *pointee(const CallBase &Call, unsigned Argument) {
#if LLVM_VERSION_MAJOR >= 15
  return Call.getParamElementType(Argument);
#else
  return cast<PointerType>(Call.getArgOperand(Argument)->getType())->getPointerElementType();
#endif
}

namespace {

class Follower {
public:
  Follower(const CallBase &Call, const Terms &T, AsmInput Input)
      : Call(Call), T(T), Input(Input), DL(Call.getModule()->getDataLayout()), Machine(T) {}

  bool run(SmallVectorImpl<Term> &Outputs);

private:
  bool prepare();
  bool line(StringRef Text);
  bool operand(StringRef Text, AsmPlace &Out);
  bool numbered(StringRef Text, AsmPlace &Out);
  bool constraint(const InlineAsm::ConstraintInfo &C);
  bool memoryInput();
  bool finish(SmallVectorImpl<Term> &Outputs);

  const CallBase &Call;
  const Terms &T;
  AsmInput Input;
  const DataLayout &DL;
  AssemblyMachine Machine;
  std::map<unsigned, AsmCell> Own; // of constraints without a fixed register
  SmallVector<AsmCell *, 8> Cells; // by the number in the text
  SmallVector<bool, 8> IsMemory;   // by that number
  SmallVector<std::pair<AsmCell *, std::string>, 4> Results; // or a condition code
  unsigned Argument = 0, Result = 0;
};

unsigned bitsOf(Type *Ty, const DataLayout &DL) {
  if (!Ty->isIntegerTy() && !Ty->isPointerTy())
    return 0;
  unsigned Bits = unsigned(uint64_t(DL.getTypeSizeInBits(Ty)));
  return Bits == 8 || Bits == 16 || Bits == 32 || Bits == 64 ? Bits : 0;
}

std::string fixedRegister(const InlineAsm::ConstraintInfo &C) {
  if (C.Codes.size() != 1)
    return "";
  StringRef Code = C.Codes[0];
  if (!Code.consume_front("{") || !Code.consume_back("}"))
    return "";
  return Code.str();
}

// An input in memory, which the text only reads.
bool Follower::memoryInput() {
  Type *Ty = pointee(Call, Argument);
  AsmCell &Memory = Own[unsigned(Cells.size())];
  Memory.bits = Ty ? bitsOf(Ty, DL) : 0;
  if (!Memory.bits)
    return false;
  Memory.term = Input(Argument++, true, Memory.bits);
  Cells.push_back(&Memory);
  return true;
}

bool Follower::constraint(const InlineAsm::ConstraintInfo &C) {
  if (C.Type != InlineAsm::isInput && C.Type != InlineAsm::isOutput)
    return false;
  const bool Output = C.Type == InlineAsm::isOutput;
  IsMemory.push_back(C.isIndirect);
  if (C.isIndirect)
    return !Output && memoryInput();
  auto *Many = dyn_cast<StructType>(Call.getType());
  Type *Ty = !Output ? Call.getArgOperand(Argument)->getType()
             : Many  ? Many->getElementType(Result)
                     : Call.getType();
  unsigned Bits = bitsOf(Ty, DL);
  if (!Bits)
    return false;
  std::string Fixed = fixedRegister(C);
  Result += Output;
  if (Fixed.compare(0, 3, "@cc") == 0) {
    Results.emplace_back(nullptr, Fixed.substr(3));
    Cells.push_back(nullptr);
    return true;
  }
  AsmCell *Cell = &Own[unsigned(Cells.size())];
  if (!Fixed.empty()) {
    std::string Family = familyOfRegister(Fixed);
    if (Family.empty())
      return false;
    Cell = &Machine.registerCell(Family);
  } else if (!Output && C.Codes.size() == 1 && isDigit(C.Codes[0][0])) {
    unsigned Tied = unsigned(std::stoi(C.Codes[0]));
    if (Tied >= Cells.size() || !Cells[Tied])
      return false;
    Cell = Cells[Tied];
  }
  if (Cell->bits != Bits && Cell->term)
    return false; // one register as two widths
  Cell->bits = Bits;
  Cells.push_back(Cell);
  if (Output)
    Results.emplace_back(Cell, "");
  else
    Cell->term = Input(Argument++, false, Bits);
  return true;
}

bool Follower::prepare() {
  auto &Asm = *cast<InlineAsm>(Call.getCalledOperand());
  return Asm.getDialect() == InlineAsm::AD_ATT &&
         all_of(Asm.ParseConstraints(), [&](const InlineAsm::ConstraintInfo &C) {
           return C.Type == InlineAsm::isClobber || constraint(C);
         });
}

bool Follower::numbered(StringRef Text, AsmPlace &Out) {
  char Modifier = 0;
  if (Text.consume_front("{")) {
    if (!Text.consume_back("}"))
      return false;
    auto [Number, Letter] = Text.split(':');
    if (Letter.size() > 1 || (Letter.size() == 1 && !widthOfLetter(Letter[0])))
      return false;
    Modifier = Letter.empty() ? 0 : Letter[0];
    Text = Number;
  }
  unsigned Number;
  if (Text.getAsInteger(10, Number) || Number >= Cells.size() || !Cells[Number])
    return false;
  Out.cell = Cells[Number];
  Out.memory = IsMemory[Number];
  Out.width = Modifier ? widthOfLetter(Modifier) : Out.cell->bits;
  return true;
}

bool Follower::operand(StringRef Text, AsmPlace &Out) {
  if (Text.consume_front("$$")) {
    int64_t Value;
    if (Text.getAsInteger(0, Value))
      return false;
    Out.immediate = uint64_t(Value);
    return true;
  }
  if (Text.consume_front("$"))
    return numbered(Text, Out);
  if (!Text.consume_front("%"))
    return false;
  std::string Family = familyOfRegister(Text);
  if (Family.empty() || Text.size() < 2)
    return false;
  Out.cell = &Machine.registerCell(Family);
  Out.width = widthOfRegister(Text);
  return true;
}

bool Follower::line(StringRef Text) {
  Text = Text.split('#').first.trim();
  if (Text.empty())
    return true;
  size_t End = std::min(Text.find_first_of(" \t"), Text.size());
  StringRef Name = Text.take_front(End), Rest = Text.drop_front(End);
  SmallVector<AsmPlace, 3> Places;
  SmallVector<StringRef, 3> Words;
  if (!Rest.trim().empty())
    Rest.split(Words, ',');
  for (StringRef Word : Words) {
    AsmPlace P;
    if (!operand(Word.trim(), P))
      return false;
    Places.push_back(P);
  }
  return Machine.instruction(Name, Places);
}
bool Follower::run(SmallVectorImpl<Term> &Outputs) {
  if (!prepare())
    return false;
  StringRef Text(cast<InlineAsm>(Call.getCalledOperand())->getAsmString());
  SmallVector<StringRef, 8> Lines;
  SmallVector<StringRef, 8> Parts;
  Text.split(Lines, '\n');
  for (StringRef Each : Lines)
    Each.split('#').first.split(Parts, ';');
  for (StringRef Each : Parts)
    if (!line(Each))
      return false;
  return finish(Outputs);
}

bool Follower::finish(SmallVectorImpl<Term> &Outputs) {
  auto *Many = dyn_cast<StructType>(Call.getType());
  for (auto &[Cell, Code] : Results) {
    Type *Ty = Many ? Many->getElementType(unsigned(Outputs.size())) : Call.getType();
    unsigned Bits = bitsOf(Ty, DL);
    std::optional<Term> Value;
    if (Cell)
      Value = Cell->term;
    else if (std::optional<Term> Bit = Machine.condition(Code))
      Value = T.zext(*Bit, Bits);
    if (!Value || Value->bits != Bits)
      return false;
    Outputs.push_back(*Value);
  }
  return true;
}

} // namespace

SmallVector<AsmMemory, 4> memoryOfAssembly(const CallBase &Call) {
  SmallVector<AsmMemory, 4> Out;
  unsigned Argument = 0;
  for (const auto &C : cast<InlineAsm>(Call.getCalledOperand())->ParseConstraints()) {
    if (C.Type != InlineAsm::isInput && C.Type != InlineAsm::isOutput)
      continue;
    if (C.Type == InlineAsm::isOutput && !C.isIndirect)
      continue;
    if (C.isIndirect)
      if (Type *Ty = pointee(Call, Argument); Ty && Ty->isSized())
        Out.push_back({Call.getArgOperand(Argument), Ty, C.Type == InlineAsm::isOutput});
    ++Argument;
  }
  return Out;
}

bool isEmptyAssembly(const CallBase &Call) {
  StringRef Text(cast<InlineAsm>(Call.getCalledOperand())->getAsmString());
  SmallVector<StringRef, 4> Lines;
  Text.split(Lines, '\n');
  return all_of(Lines, [](StringRef L) { return L.split('#').first.trim("; \t").empty(); });
}

SmallVector<int, 4> tiedInputs(const CallBase &Call) {
  auto Constraints = cast<InlineAsm>(Call.getCalledOperand())->ParseConstraints();
  SmallVector<int, 4> Out;
  SmallVector<int, 8> ResultOf; // by constraint number
  int Argument = 0;
  for (const auto &C : Constraints) {
    if (C.Type != InlineAsm::isInput && C.Type != InlineAsm::isOutput)
      continue;
    const bool Result = C.Type == InlineAsm::isOutput && !C.isIndirect;
    ResultOf.push_back(Result ? int(Out.size()) : -1);
    if (Result) {
      Out.push_back(-1);
      continue;
    }
    if (C.Type == InlineAsm::isInput && C.Codes.size() == 1 && isDigit(C.Codes[0][0])) {
      unsigned Tied = unsigned(std::stoi(C.Codes[0]));
      if (Tied < ResultOf.size() && ResultOf[Tied] >= 0)
        Out[unsigned(ResultOf[Tied])] = Argument;
    }
    ++Argument;
  }
  return Out;
}

bool followAssembly(const CallBase &Call, const Terms &T, AsmInput Input,
                    SmallVectorImpl<Term> &Outputs) {
  return Follower(Call, T, Input).run(Outputs);
}

bool isModelledAssembly(const CallBase &Call) {
  if (!isa<CallInst>(Call))
    return false; // assembly that jumps or throws
  if (isEmptyAssembly(Call))
    return true;
  SmallVector<Term, 4> Outputs;
  auto Input = [](unsigned, bool, unsigned Bits) { return Term{nullptr, nullptr, Bits}; };
  return followAssembly(Call, Terms(), Input, Outputs);
}

} // namespace symfleet
