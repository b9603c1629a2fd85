#include "AssemblyStrings.h"

#include "AssemblyMachine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace symfleet {

// The instruction behind `rep`, which may stand on a line of its own.
static StringRef repeated(StringRef Text) {
  SmallVector<StringRef, 4> Words, Said;
  for (StringRef Rest = Text; !Rest.empty();) {
    size_t End = std::min(Rest.find_first_of(" \t\n;"), Rest.size());
    if (End && Rest.take_front(End) != "cld")
      Said.push_back(Rest.take_front(End));
    Rest = Rest.drop_front(std::min(End + 1, Rest.size()));
  }
  return Said.size() == 2 && Said[0] == "rep" ? Said[1] : "";
}

static std::string familyOf(const InlineAsm::ConstraintInfo &C) {
  StringRef Code = C.Codes.size() == 1 ? StringRef(C.Codes[0]) : "";
  return Code.consume_front("{") && Code.consume_back("}") ? familyOfRegister(Code) : "";
}

// Arguments by the register that they are in.
static bool argumentsByRegister(const CallBase &Call, std::map<std::string, Value *> &Out) {
  SmallVector<std::string, 4> Outputs;
  unsigned Argument = 0;
  for (const auto &C : cast<InlineAsm>(Call.getCalledOperand())->ParseConstraints()) {
    if (C.Type == InlineAsm::isClobber)
      continue;
    std::string Family = familyOf(C);
    if (C.isIndirect)
      return false;
    if (C.Type == InlineAsm::isOutput) {
      Outputs.push_back(Family);
      if (Family != "D" && Family != "S" && Family != "c")
        return false;
      continue;
    }
    unsigned Tied;
    if (C.Codes.size() == 1 && !StringRef(C.Codes[0]).getAsInteger(10, Tied))
      Family = Tied < Outputs.size() ? Outputs[Tied] : "";
    if (Family.empty())
      return false;
    Out[Family] = Call.getArgOperand(Argument++);
  }
  return true;
}

std::optional<AsmString> stringOfAssembly(const CallBase &Call) {
  auto &Asm = *cast<InlineAsm>(Call.getCalledOperand());
  StringRef Name = repeated(Asm.getAsmString());
  unsigned Unit = StringSwitch<unsigned>(Name)
                      .Cases("movsb", "stosb", 1)
                      .Cases("movsw", "stosw", 2)
                      .Cases("movsl", "stosl", 4)
                      .Cases("movsq", "stosq", 8)
                      .Default(0);
  std::map<std::string, Value *> By;
  if (!Unit || !isa<CallInst>(Call) || !argumentsByRegister(Call, By))
    return std::nullopt;
  const bool Copies = Name[0] == 'm';
  AsmString Out{By["D"], Copies ? By["S"] : nullptr, Copies ? nullptr : By["a"], By["c"], Unit};
  auto IsWhole = [](Value *V) {
    return V && (V->getType()->isPointerTy() || V->getType()->isIntegerTy(64));
  };
  if (!IsWhole(Out.to) || !Out.count || !Out.count->getType()->isIntegerTy(64) ||
      (Copies && !IsWhole(Out.from)))
    return std::nullopt;
  if (!Copies && (!Out.value || !Out.value->getType()->isIntegerTy() ||
                  Out.value->getType()->getIntegerBitWidth() > 64 ||
                  (Unit > 1 && !isa<ConstantInt>(Out.value))))
    return std::nullopt;
  return Out;
}

} // namespace symfleet
