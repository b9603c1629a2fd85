// The number at the start of a text, as an expression over the bytes of the text.
//
// What strtol() and its relatives do to a text is a small automaton: space, sign,
// prefix, digits. Here each byte moves the automaton symbolically, so that value,
// sign and end are right for every content of the bytes looked at, whichever of
// them are digits. No branch has to say where the digits end: a comparison of the
// value with a constant is one question, also if its answer has more digits, or
// fewer, than the text has now.
#ifndef SYMFLEET_RUNTIME_NUMBER_H
#define SYMFLEET_RUNTIME_NUMBER_H

#include "events.h"

namespace sf {

constexpr unsigned TextBytesMax = 96;

// The first bytes of a text. Where it ends, its last byte is one that no number
// contains; it is cut where more of it follows.
struct Text {
  Operand bytes[TextBytesMax];
  unsigned count = 0;
  bool cut = false;

  // Up to the NUL, as far as there is memory and at most Limit bytes.
  static Text inMemory(const void *Start, uint64_t Limit = TextBytesMax);
  void add(Operand Byte) { bytes[count++] = Byte; }
};

enum class NumberRange : uint8_t {
  Signed,   // saturates at both ends of a signed type
  Unsigned, // saturates at the upper end; a sign negates
};

struct NumberForm {
  unsigned base = 10; // 0: by the prefix
  NumberRange range = NumberRange::Signed;
  bool skipsSpace = true;
  bool knowsBinary = false; // "0b", as of C23
  bool eatsPrefix = false;  // scanf: "0x" without a digit behind it is gone
};

struct ParsedNumber {
  Operand value;     // 64 bits, saturated
  Operand isNumber;  // 1 bit: there is a digit
  Operand negative;  // 1 bit
  Operand over;      // 1 bit: it was saturated
  Operand end;       // 32 bits: bytes up to the end of the number, 0 if there is none
  Operand bare;      // 1 bit: it is a prefix ("0x") without a digit behind it
  unsigned lead;     // bytes of space before it in this run
  unsigned base;     // in this run
  uint64_t greatest; // the magnitude is never more, whatever the bytes are
};

// Returns false if the number of this run does not end within the text; its bytes
// are facts then.
bool parseNumber(const Text &From, const NumberForm &Form, Place At, ParsedNumber &Out);

// The same values, with what a solver needs to propose other texts. Bits is the
// width of the program's variable.
void suggestTexts(const Text &From, const NumberForm &Form, unsigned Bits, ParsedNumber &Number);

// Where the number ends is a fact for what is read behind it. Goals are another end
// and, to leave most of the text to what follows, one digit.
void recordEnd(const ParsedNumber &Number, Place At);

// Bytes that the input can be told to be, for a goal to propose: a template.
void recordTemplate(const Text &From, unsigned Start, const char *Wanted, unsigned Size, Place At);

Operand spaceBit(Operand Byte);
bool isSpaceByte(uint64_t Byte);
Operand allOf(Operand A, Operand B);
Operand anyOf(Operand A, Operand B);

} // namespace sf

#endif
