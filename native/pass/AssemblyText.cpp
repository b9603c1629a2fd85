#include "AssemblyText.h"

using namespace llvm;

namespace symfleet {

namespace {

class Reader {
public:
  Reader(ArrayRef<AsmOperand> Operands, AssemblyMachine &Machine)
      : Operands(Operands), Machine(Machine) {}

  bool line(StringRef Text);

private:
  bool operand(StringRef Text, AsmPlace &Out);
  bool numbered(StringRef Text, AsmPlace &Out);
  bool address(StringRef Text, AsmPlace &Out);
  bool registerNamed(StringRef Text, AsmPlace &Out);

  ArrayRef<AsmOperand> Operands;
  AssemblyMachine &Machine;
};

// $1, or ${1:b} with the width that it is named by.
bool Reader::numbered(StringRef Text, AsmPlace &Out) {
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
  if (Text.getAsInteger(10, Number) || Number >= Operands.size())
    return false;
  const AsmOperand &Named = Operands[Number];
  if (Named.constant) {
    Out.immediate = *Named.constant;
    return true;
  }
  if (!Named.cell)
    return false;
  Out.cell = Named.cell;
  Out.memory = Named.cell->memory;
  Out.width = Modifier ? widthOfLetter(Modifier) : Named.cell->bits;
  Out.low = Modifier == 'h' && !Out.memory ? 8 : 0;
  return !(Modifier == 'h' && Out.memory); // there it names another address
}

bool Reader::registerNamed(StringRef Text, AsmPlace &Out) {
  std::string Family = familyOfRegister(Text);
  if (Family.empty() || Text.size() < 2)
    return false;
  Out.cell = &Machine.registerCell(Family);
  Out.width = widthOfRegister(Text);
  Out.low = lowOfRegister(Text);
  return true;
}

// displacement(base,index,scale)
bool Reader::address(StringRef Text, AsmPlace &Out) {
  auto [Before, Inside] = Text.split('(');
  if (!Inside.consume_back(")"))
    return false;
  int64_t Displacement = 0;
  if (!Before.trim().empty() && Before.trim().getAsInteger(0, Displacement))
    return false;
  SmallVector<StringRef, 3> Parts;
  Inside.split(Parts, ',');
  if (Parts.size() > 3)
    return false;
  Out.address = true;
  Out.immediate = uint64_t(Displacement);
  if (Parts.size() == 3 && Parts[2].trim().getAsInteger(10, Out.scale))
    return false;
  for (unsigned K = 0; K < 2 && K < Parts.size(); ++K) {
    StringRef Word = Parts[K].trim();
    AsmPlace Part;
    if (Word.empty())
      continue;
    if (K == 0 && Word == "%rsp") {
      Out.ofStack = true;
      continue;
    }
    if (!operand(Word, Part) || !Part.cell || Part.memory || Part.width < 32 ||
        (Out.width && Out.width != Part.width))
      return false;
    Out.width = Part.width;
    (K == 0 ? Out.base : Out.index) = Part.cell;
  }
  return Out.ofStack || Out.width;
}

bool Reader::operand(StringRef Text, AsmPlace &Out) {
  if (Text.find('(') != StringRef::npos)
    return Text[0] != '$' && address(Text, Out);
  if (Text.consume_front("$$")) {
    int64_t Value;
    uint64_t Large;
    if (!Text.getAsInteger(0, Value))
      Out.immediate = uint64_t(Value);
    else if (!Text.getAsInteger(0, Large))
      Out.immediate = Large;
    else
      return false;
    return true;
  }
  if (Text.consume_front("$"))
    return numbered(Text, Out);
  return Text.consume_front("%") && registerNamed(Text, Out);
}

// Where the next operand begins: behind a comma that is in no address.
size_t endOfOperand(StringRef Text) {
  unsigned Depth = 0;
  for (size_t At = 0; At < Text.size(); ++At) {
    Depth += Text[At] == '(';
    Depth -= Text[At] == ')' && Depth;
    if (Text[At] == ',' && !Depth)
      return At;
  }
  return Text.size();
}

// What it names may be anywhere: it does nothing.
bool isHint(StringRef Name) {
  return Name.take_front(8) == "prefetch" || Name.take_front(7) == "clflush" || Name == "clwb";
}

bool Reader::line(StringRef Text) {
  Text = Text.trim();
  if (Text.empty())
    return true;
  size_t End = std::min(Text.find_first_of(" \t"), Text.size());
  StringRef Name = Text.take_front(End), Rest = Text.drop_front(End).trim();
  if (Name == "lock" && !Rest.empty())
    return line(Rest);
  if (isHint(Name))
    return true;
  SmallVector<AsmPlace, 3> Places;
  while (!Rest.empty()) {
    AsmPlace P;
    size_t Length = endOfOperand(Rest);
    if (!operand(Rest.take_front(Length).trim(), P))
      return false;
    Places.push_back(P);
    Rest = Rest.drop_front(std::min(Length + 1, Rest.size()));
  }
  return Machine.instruction(Name, Places);
}

} // namespace

bool runAssembly(StringRef Text, ArrayRef<AsmOperand> Operands, AssemblyMachine &Machine) {
  SmallVector<StringRef, 8> Lines, Parts;
  Text.split(Lines, '\n');
  for (StringRef Each : Lines)
    Each.split('#').first.split(Parts, ';');
  Reader Each(Operands, Machine);
  return all_of(Parts, [&](StringRef Part) { return Each.line(Part); });
}

} // namespace symfleet
