#include "InlineAssembly.h"
#include "AssemblyStrings.h"
#include "AssemblyText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GlobalVariable.h"
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

unsigned bitsOfAssembly(Type *Ty, const DataLayout &DL) {
  if (!Ty->isIntegerTy() && !Ty->isPointerTy())
    return 0;
  unsigned Bits = unsigned(uint64_t(DL.getTypeSizeInBits(Ty)));
  return Bits == 8 || Bits == 16 || Bits == 32 || Bits == 64 ? Bits : 0;
}

namespace {

class Follower {
public:
  Follower(const CallBase &Call, const Terms &T, AsmInput Input, AsmResult Actual)
      : Call(Call), T(T), Input(Input), Actual(Actual), DL(Call.getModule()->getDataLayout()),
        Machine(T) {}

  bool run(AsmOutcome &Out);

private:
  // A result: a cell, or a condition code.
  struct Wanted {
    AsmCell *cell;
    std::string code;
  };
  // Memory by where it is; each once.
  struct Memory {
    const Value *pointer;
    unsigned argument;
    AsmCell *cell;
  };

  bool prepare();
  bool constraint(const InlineAsm::ConstraintInfo &C);
  bool memoryConstraint(const InlineAsm::ConstraintInfo &C);
  bool tie(const InlineAsm::ConstraintInfo &C, AsmCell *&Cell);
  void separateMemory();
  bool finish(AsmOutcome &Out);

  const CallBase &Call;
  const Terms &T;
  AsmInput Input;
  AsmResult Actual;
  const DataLayout &DL;
  AssemblyMachine Machine;
  std::map<unsigned, AsmCell> Own;     // of constraints without a fixed register
  SmallVector<AsmOperand, 8> Operands; // by the number in the text
  SmallVector<Memory, 4> Memories;
  SmallVector<Wanted, 4> Results;
  unsigned Argument = 0, Result = 0;
};

std::string fixedRegister(const InlineAsm::ConstraintInfo &C) {
  if (C.Codes.size() != 1)
    return "";
  StringRef Code = C.Codes[0];
  if (!Code.consume_front("{") || !Code.consume_back("}"))
    return "";
  return Code.str();
}

bool hasCode(const InlineAsm::ConstraintInfo &C, StringRef Letters) {
  return any_of(C.Codes, [&](StringRef Code) {
    return Code.size() == 1 && Letters.find(Code[0]) != StringRef::npos;
  });
}

// Two constraints on one place ("+m" becomes two) share a cell.
bool Follower::memoryConstraint(const InlineAsm::ConstraintInfo &C) {
  Type *Ty = pointee(Call, Argument);
  const unsigned Bits = Ty ? bitsOfAssembly(Ty, DL) : 0;
  const bool Output = C.Type == InlineAsm::isOutput;
  if (!Bits && !Output) { // the text must not name it
    Operands.push_back({});
    ++Argument;
    return true;
  }
  if (!Bits || (Output && !hasCode(C, "moV")))
    return false;
  const Value *Pointer = Call.getArgOperand(Argument)->stripPointerCasts();
  auto *Known = find_if(Memories, [&](const Memory &M) { return M.pointer == Pointer; });
  AsmCell *Cell = Known != Memories.end() ? Known->cell : &Own[unsigned(Operands.size())];
  if (Known == Memories.end())
    Memories.push_back({Pointer, Argument, Cell});
  else if (Cell->bits != Bits)
    return false;
  Cell->bits = Bits;
  Cell->memory = true;
  if (!Output && !Cell->term)
    Cell->term = Input(Argument, true, Bits);
  ++Argument;
  Operands.push_back({Cell, std::nullopt});
  return true;
}

// Which cell an operand has, if it is not one of its own.
bool Follower::tie(const InlineAsm::ConstraintInfo &C, AsmCell *&Cell) {
  std::string Fixed = fixedRegister(C);
  if (!Fixed.empty()) {
    std::string Family = familyOfRegister(Fixed);
    if (Family.empty())
      return false;
    Cell = &Machine.registerCell(Family);
  } else if (C.Type == InlineAsm::isInput && C.Codes.size() == 1 && isDigit(C.Codes[0][0])) {
    unsigned Tied = unsigned(std::stoi(C.Codes[0]));
    if (Tied >= Operands.size() || !Operands[Tied].cell || Operands[Tied].cell->memory)
      return false;
    Cell = Operands[Tied].cell;
  }
  return true;
}

bool Follower::constraint(const InlineAsm::ConstraintInfo &C) {
  if (C.Type != InlineAsm::isInput && C.Type != InlineAsm::isOutput)
    return false;
  if (C.isIndirect)
    return memoryConstraint(C);
  const bool Output = C.Type == InlineAsm::isOutput;
  auto *Many = dyn_cast<StructType>(Call.getType());
  Type *Ty = !Output ? Call.getArgOperand(Argument)->getType()
             : Many  ? Many->getElementType(Result)
                     : Call.getType();
  unsigned Bits = bitsOfAssembly(Ty, DL);
  if (!Bits)
    return false;
  Result += Output;
  if (std::string Fixed = fixedRegister(C); Fixed.compare(0, 3, "@cc") == 0) {
    Results.push_back({nullptr, Fixed.substr(3)});
    Operands.push_back({});
    return true;
  }
  AsmCell *Cell = &Own[unsigned(Operands.size())];
  if (!tie(C, Cell) || (Cell->bits != Bits && Cell->term))
    return false; // one register as two widths
  Cell->bits = Bits;
  Operands.push_back({Cell, std::nullopt});
  if (Output) {
    Results.push_back({Cell, ""});
    return true;
  }
  auto *Written = dyn_cast<ConstantInt>(Call.getArgOperand(Argument));
  if (Written && hasCode(C, "inesIJKLMNOZ"))
    Operands.back().constant = uint64_t(Written->getSExtValue());
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

// Parts of one object that do not overlap, and variables of their own.
void Follower::separateMemory() {
  auto IsObject = [](const Value *V) { return isa<AllocaInst>(V) || isa<GlobalVariable>(V); };
  for (const Memory &X : Memories)
    for (const Memory &Y : Memories) {
      APInt AtX(DL.getIndexTypeSizeInBits(X.pointer->getType()), 0), AtY = AtX;
      auto *OfX = X.pointer->stripAndAccumulateConstantOffsets(DL, AtX, true);
      auto *OfY = Y.pointer->stripAndAccumulateConstantOffsets(DL, AtY, true);
      int64_t Distance = AtY.getSExtValue() - AtX.getSExtValue();
      bool Apart = OfX == OfY ? Distance >= X.cell->bits / 8 || -Distance >= Y.cell->bits / 8
                              : IsObject(OfX) && IsObject(OfY);
      if (Apart)
        X.cell->apart.insert(Y.cell);
    }
}

bool Follower::run(AsmOutcome &Out) {
  if (!prepare())
    return false;
  separateMemory();
  StringRef Text(cast<InlineAsm>(Call.getCalledOperand())->getAsmString());
  return runAssembly(Text, Operands, Machine) && finish(Out);
}

bool Follower::finish(AsmOutcome &Out) {
  auto *Many = dyn_cast<StructType>(Call.getType());
  for (auto &[Cell, Code] : Results) {
    const unsigned Number = unsigned(Out.results.size());
    unsigned Bits = bitsOfAssembly(Many ? Many->getElementType(Number) : Call.getType(), DL);
    std::optional<Term> Value;
    if (Cell)
      Value = Cell->term;
    else if (std::optional<Term> Bit = Machine.condition(Code))
      Value = T.zext(*Bit, Bits);
    if (!Value || Value->bits > Bits)
      return false;
    if (unsigned Known = Value->bits; Known < Bits) // above it is what was there
      Value = T.concat(T.extract(Actual(Number, Bits), Known, Bits - Known), *Value);
    Out.results.push_back(*Value);
  }
  sort(Memories, [](auto &X, auto &Y) { return X.cell->written < Y.cell->written; });
  for (const Memory &Each : Memories)
    if (Each.cell->written)
      Out.stores.push_back({Each.argument, *Each.cell->term});
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
        Out.push_back({Call.getArgOperand(Argument), Ty, C.Type == InlineAsm::isOutput, Argument});
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

bool followAssembly(const CallBase &Call, const Terms &T, AsmInput Input, AsmResult Result,
                    AsmOutcome &Outcome) {
  return Follower(Call, T, Input, Result).run(Outcome);
}

bool isModelledAssembly(const CallBase &Call) {
  if (!isa<CallInst>(Call))
    return false; // assembly that jumps or throws
  if (isEmptyAssembly(Call) || stringOfAssembly(Call))
    return true;
  AsmOutcome Outcome;
  auto Input = [](unsigned, bool, unsigned Bits) { return Term{nullptr, nullptr, Bits}; };
  auto Result = [](unsigned, unsigned Bits) { return Term{nullptr, nullptr, Bits}; };
  return followAssembly(Call, Terms(), Input, Result, Outcome);
}

} // namespace symfleet
