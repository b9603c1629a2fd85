// The registers and flags that inline assembly works on.
//
// Each instruction becomes terms; what cannot be expressed makes it fail.
#ifndef SYMFLEET_PASS_ASSEMBLYMACHINE_H
#define SYMFLEET_PASS_ASSEMBLYMACHINE_H

#include "Terms.h"

#include <map>
#include <optional>
#include <string>

namespace symfleet {

// What a register or a constraint holds; outputs hold nothing before they are
// written.
struct AsmCell {
  unsigned bits = 0;
  std::optional<Term> term;
};

// An operand of an instruction.
struct AsmPlace {
  AsmCell *cell = nullptr; // null: an immediate
  uint64_t immediate = 0;
  unsigned width = 0; // as the text names it; 0 for an immediate
  bool memory = false;
};

// The letter of a general register, by any of its names; empty for others.
std::string familyOfRegister(llvm::StringRef Register);
unsigned widthOfRegister(llvm::StringRef Register);
// Of a suffix or a modifier; 0 for others.
unsigned widthOfLetter(char Letter);

class AssemblyMachine {
public:
  explicit AssemblyMachine(const Terms &T) : T(T) {}

  AsmCell &registerCell(llvm::StringRef Family);
  bool instruction(llvm::StringRef Name, llvm::MutableArrayRef<AsmPlace> P);
  // What a condition code (e, b, ge ...) says now.
  std::optional<Term> condition(llvm::StringRef Code);

private:
  using Places = llvm::MutableArrayRef<AsmPlace>;

  // Flags as comparisons of what set them.
  struct Flags {
    std::optional<Term> carry;
    std::optional<Term> left, right; // as a comparison of these
    bool onlyZeroAndSign = false;    // an addition: order is not that of left and right
  };

  bool moves(llvm::StringRef Name, Places P);
  bool twoOperands(llvm::StringRef Base, unsigned Width, Places P);
  bool addition(llvm::StringRef Base, const Term &X, const Term &Y, AsmPlace &Target);
  bool oneOperand(llvm::StringRef Base, unsigned Width, Places P);
  bool shift(llvm::StringRef Base, unsigned Width, Places P);
  bool multiply(bool Signed, unsigned Width, Places P);
  bool counts(llvm::StringRef Base, unsigned Width, Places P);
  bool exchange(unsigned Width, Places P);
  std::optional<Term> read(const AsmPlace &P, unsigned Width);
  bool write(const AsmPlace &P, const Term &V);
  void compared(const Term &Left, const Term &Right);
  void computed(const Term &Result);

  const Terms &T;
  std::map<std::string, AsmCell> Registers;
  Flags F;
};

} // namespace symfleet

#endif
