// The registers, the memory and the flags that inline assembly works on.
//
// Each instruction becomes terms; what cannot be expressed makes it fail.
#ifndef SYMFLEET_PASS_ASSEMBLYMACHINE_H
#define SYMFLEET_PASS_ASSEMBLYMACHINE_H

#include "Terms.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <map>
#include <optional>
#include <string>

namespace symfleet {

// What a register or a constraint holds; outputs hold nothing before they are
// written. A term that is narrower than the cell is its lower part: above it is
// what nobody has written.
struct AsmCell {
  unsigned bits = 0;
  std::optional<Term> term;
  bool memory = false;
  unsigned written = 0;                        // memory: when, counted by the machine; 0 for never
  llvm::SmallPtrSet<const AsmCell *, 4> apart; // memory that surely does not overlap this one
};

// An operand of an instruction.
struct AsmPlace {
  AsmCell *cell = nullptr; // null: an immediate or an address
  uint64_t immediate = 0;  // of an address: the displacement
  unsigned width = 0;      // as the text names it; 0 for an immediate
  unsigned low = 0;        // 8 for the second byte of a register
  bool memory = false;
  bool address = false; // displacement(base,index,scale)
  AsmCell *base = nullptr, *index = nullptr;
  unsigned scale = 1;
  bool ofStack = false; // the base is the stack pointer
};

// The letter of a general register, by any of its names; empty for others.
std::string familyOfRegister(llvm::StringRef Register);
unsigned widthOfRegister(llvm::StringRef Register);
// The bit that it begins at: 8 for ah and its like.
unsigned lowOfRegister(llvm::StringRef Register);
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

  // Flags as comparisons of what set them. What is not set here is not known.
  struct Flags {
    std::optional<Term> carry;
    // Zero: these are equal. Sign and parity: of their difference.
    std::optional<Term> left, right;
    bool onlyZero = false; // sign and parity are undefined or something else
    bool ordered = false;  // their order is that of a comparison
    unsigned overflow = 0; // an operation on first and second; 0: not known
    std::optional<Term> first, second;
  };

  bool moves(llvm::StringRef Name, Places P);
  bool conditional(llvm::StringRef Code, Places P);
  bool extends(llvm::StringRef Name);
  bool withoutOperands(llvm::StringRef Name);
  bool withWidth(llvm::StringRef Base, unsigned Width, Places P);
  bool loadAddress(unsigned Width, Places P);

  // AssemblyArithmetic.cpp
  bool twoOperands(llvm::StringRef Base, unsigned Width, Places P);
  bool addition(llvm::StringRef Base, const Term &X, const Term &Y, AsmPlace &Target);
  bool oneOperand(llvm::StringRef Base, unsigned Width, Places P);
  bool multiply(bool Signed, unsigned Width, Places P);
  bool multiplyWithoutFlags(unsigned Width, Places P);
  bool divide(bool Signed, unsigned Width, Places P);
  bool exchange(unsigned Width, Places P);
  bool exchangeAdd(unsigned Width, Places P);
  bool compareExchange(unsigned Width, Places P);

  // AssemblyBits.cpp
  bool shift(llvm::StringRef Base, unsigned Width, Places P);
  void flagsOfShift(llvm::StringRef Base, const Term &X, const Term &Result, unsigned Amount);
  bool doubleShift(bool Right, unsigned Width, Places P);
  bool shiftWithoutFlags(llvm::StringRef Base, unsigned Width, Places P);
  bool counts(llvm::StringRef Base, unsigned Width, Places P);
  bool testBit(llvm::StringRef Base, unsigned Width, Places P);
  bool andNot(unsigned Width, Places P);
  bool lowestBit(llvm::StringRef Base, unsigned Width, Places P);

  AsmPlace registerPlace(llvm::StringRef Family, unsigned Width);
  bool isOverwritten(const AsmCell &C) const;
  std::optional<Term> read(const AsmPlace &P, unsigned Width);
  bool write(const AsmPlace &P, const Term &V);

  // AssemblyFlags.cpp
  void compared(const Term &Left, const Term &Right);
  void computed(const Term &Result);
  void zeroOf(const Term &X);
  std::optional<Term> sign();
  std::optional<Term> overflowed();
  std::optional<Term> plainCondition(llvm::StringRef Code);

  const Terms &T;
  std::map<std::string, AsmCell> Registers;
  llvm::SmallVector<const AsmCell *, 2> WrittenMemory;
  unsigned Writes = 0;
  bool SignAbove = false; // d holds the sign of a: cltd, cqto
  unsigned SignWidth = 0;
  Flags F;
};

} // namespace symfleet

#endif
