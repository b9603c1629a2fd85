#include "scanner.h"

#include "float_text.h"

#include "symfleet/scanned_number.h"

#include <string.h>

namespace sf {

namespace {

uint64_t takesByte(uint64_t Byte, const void *Set) { return ((const ByteSet *)Set)->has(Byte); }
uint64_t takenByte(uint64_t Byte, const void *Set) {
  return ((const ByteSet *)Set)->has(Byte) ? Byte : 0;
}

} // namespace

bool Scanner::isComplete(int Assigned) const {
  Format Copy = Rest;
  int Fields = 0;
  Directive D;
  for (Copy.next(D); D.kind != Directive::End; Copy.next(D))
    if (D.kind == Directive::Unknown)
      return true;
    else if (D.kind >= Directive::Number && D.kind < Directive::Count && !D.suppressed)
      ++Fields;
  return Assigned >= Fields;
}

uint64_t Scanner::follow(va_list Arguments, int Assigned) {
  Directive D;
  if (!isComplete(Assigned)) {
    Format Whole = Rest;
    Whole.next(D);
    proposeRest(D, Whole);
  }
  for (bool Matched = true; Matched;) {
    Rest.next(D);
    const bool Assigns = D.kind >= Directive::Number && D.kind <= Directive::Count;
    void *To = Assigns && !D.suppressed ? va_arg(Arguments, void *) : nullptr;
    switch (D.kind) {
    case Directive::End:
    case Directive::Unknown:
      return Position;
    case Directive::Space:
      Position = skipSpace(From, Position, At);
      break;
    case Directive::Count:
      if (To)
        store(To, D.bytes, extract(Where, 64, 0, 8 * D.bytes));
      continue;
    case Directive::Literal:
      Matched = literal(D);
      if (Where.label && !D.skipsSpace) {
        Where = binary(SF_OP_ADD, 64, Where, constant(1));
        continue;
      }
      break;
    case Directive::Number:
      Matched = number(D, To);
      continue;
    case Directive::Float:
      Matched = floating(D, To);
      continue;
    case Directive::Word:
      Matched = word(D, To);
      continue;
    case Directive::Characters:
      Matched = characters(D, To);
      break;
    }
    Where = constant(Position);
  }
  return Position;
}

// A text that fits what is left of the format, as one goal. The packed one, where it
// is another, comes first: a format that can be packed is seldom for anything else.
void Scanner::proposeRest(const Directive &D, const Format &Behind) {
  const Text Here = From.from(Position, Example::SizeMax);
  const Example Spaced(D, Behind, false), Packed(D, Behind, true);
  recordTemplate(Here, 0, Packed.Text, Packed.Size, At);
  ++At.ordinal;
  if (Packed == Spaced)
    return;
  recordTemplate(Here, 0, Spaced.Text, Spaced.Size, At);
  ++At.ordinal;
}

bool Scanner::literal(const Directive &D) {
  if (D.skipsSpace)
    Position = skipSpace(From, Position, At);
  if (!From.isKnown(Position))
    return false;
  const bool Matches = From.has(Position) && From.byte(Position) == (uint8_t)D.literal;
  if (!Matches)
    proposeRest(D, Rest);
  recordBranch(compare(SF_OP_EQ, 8, From.operand(Position), constant((uint8_t)D.literal)), At);
  ++At.ordinal;
  Position += Matches;
  return Matches;
}

void Scanner::store(void *To, unsigned Bytes, Operand Value) {
  uint64_t Stored = 0;
  readMemory(&Stored, (uint64_t)To, Bytes);
  storeLabel((uint64_t)To, Bytes, live(Value.label, Stored));
}

bool Scanner::number(const Directive &D, void *To) {
  NumberForm Form;
  Form.base = D.base;
  Form.range = D.isSigned ? NumberRange::Signed : NumberRange::Unsigned;
  Form.eatsPrefix = true;
  Form.knowsBinary = KnowsBinary;
  // Space before the number does not count as part of its width.
  if (D.width)
    Position = skipSpace(From, Position, At);
  const Text Here = From.from(Position, D.width ? D.width : TextBytesMax + 1);
  ParsedNumber Number;
  if (!parseNumber(Here, Form, At, Number))
    return false;
  suggestTexts(Here, Form, 8 * D.bytes, Number);
  if (!Number.isNumber.value)
    proposeRest(D, Rest);
  recordGoal(Number.negative, At);
  recordBranch(Number.isNumber, At);
  ++At.ordinal;
  if (!Number.isNumber.value)
    return false;
  if (To)
    store(To, D.bytes, Number.value);
  Where = binary(SF_OP_ADD, 64, constant(Position), zext(Number.end, 32, 64));
  Position += Number.end.value;
  if (!isLast()) {
    recordEnd(Number, At);
    Where = constant(Position);
  }
  return true;
}

bool Scanner::floating(const Directive &D, void *To) {
  // Space before the number does not count as part of its width.
  if (D.width)
    Position = skipSpace(From, Position, At);
  const FloatText Read = FloatText::within(From, Position, D.width ? D.width : TextBytesMax);
  char Characters[SF_TEXT_MAX + 1];
  long double Number = 0;
  Read.copy(Characters);
  const uint64_t Length = sf_scanned_number(Characters, D.format, &Number);
  if (!Read.holds(Length) || !readsNumbersAsUsual(D.format)) {
    noteUnmodelledLocked(Read.any(), "a number of another locale, rounding or length");
    for (uint64_t I = 0; I < SF_TEXT_MAX && From.isKnown(Position + I); ++I)
      recordFact(From.operand(Position + I), At);
    return false;
  }
  const Operand Size =
      Read.result(64, SF_FLOAT_AUX(SF_TEXT_SCANNED_LENGTH, 0, D.format, 0), Length);
  if (!Length)
    proposeRest(D, Rest);
  recordBranch(compare(SF_OP_NE, 64, Size, constant(0)), At);
  ++At.ordinal;
  if (!Length)
    return false;
  auto Part = [&](bool High, unsigned Bytes) {
    uint64_t Bits = 0;
    memcpy(&Bits, (const char *)&Number + 8 * High, Bytes);
    store((char *)To + 8 * High, Bytes,
          Read.result(8 * Bytes, SF_FLOAT_AUX(SF_TEXT_SCANNED_NUMBER, 0, D.format, High), Bits));
  };
  if (To)
    Part(false, D.format == SF_SINGLE ? 4 : 8);
  if (To && D.format == SF_X87)
    Part(true, 2);
  Where = binary(SF_OP_ADD, 64, constant(Position), Size);
  Position += Length;
  if (!isLast()) {
    recordGoal(compare(SF_OP_EQ, 64, Size, constant(Length)), At);
    recordFact(Size, At);
    Where = constant(Position);
  }
  return true;
}

// The literal bytes that stand between here and a %n, or more than the most if
// something else does, or no %n.
static constexpr unsigned LiteralsMax = 4;
unsigned Scanner::literalsToCount(char *Literals) const {
  Format Copy = Rest;
  Directive D;
  for (unsigned Count = 0;; ++Count) {
    Copy.next(D);
    if (D.kind == Directive::Count && !D.suppressed)
      return Count;
    if (D.kind != Directive::Literal || D.skipsSpace || Count == LiteralsMax)
      return LiteralsMax + 1;
    Literals[Count] = D.literal;
  }
}

// Where a word ends of which a %n will tell, as an expression: another end is one
// question. An end behind which the literals do not stand is none.
Operand Scanner::endOfWord(const Directive &D, uint64_t Start) {
  constexpr uint64_t Further = 16;
  char Literals[LiteralsMax];
  const unsigned Count = literalsToCount(Literals);
  if (Count > LiteralsMax)
    return constant(Position);
  uint64_t Last = D.width ? Start + D.width : Position + Further;
  if (Last > Position + Further)
    Last = Position + Further;
  while (Last > Position && !From.isKnown(Last + Count))
    --Last;
  const Operand Nowhere = constant(maskOf(64)); // such a text does not come as far as the %n
  Operand End = Nowhere;
  for (uint64_t I = Last + 1; I-- > Start + 1;) {
    Operand Here = constant(I);
    for (unsigned J = Count; J-- > 0;)
      Here = ite(compare(SF_OP_EQ, 8, From.operand(I + J), constant((uint8_t)Literals[J])), 64,
                 Here, Nowhere);
    const bool IsFull = D.width && I == Start + D.width; // whatever comes next
    End = IsFull ? Here : ite(memberBit(From.operand(I), takesByte, &D.set, At), 64, End, Here);
  }
  return End;
}

bool Scanner::word(const Directive &D, void *To) {
  if (D.skipsSpace)
    Position = skipSpace(From, Position, At);
  const uint64_t Start = Position;
  for (uint64_t I = 0; !D.width || I < D.width; ++I) {
    if (!From.isKnown(Position))
      break;
    Operand Byte = From.operand(Position);
    const bool Takes = From.has(Position) && D.set.has(From.byte(Position));
    if (!Takes && I == 0)
      proposeRest(D, Rest);
    recordShape(memberBit(Byte, takesByte, &D.set, At), At);
    if (!Takes)
      break;
    ++Position;
  }
  const uint64_t Count = Position - Start;
  if (Count == 0)
    return false;
  Where = endOfWord(D, Start);
  if (To && D.allocates)
    To = *(void **)To;
  if (!To)
    return true;
  labelWord(From, Start, Count, To, takenByte, &D.set);
  if (D.width && Count == D.width) // its NUL does not depend on the next byte
    clearLabels((uint64_t)To + Count, 1);
  return true;
}

bool Scanner::characters(const Directive &D, void *To) {
  if (To && D.allocates)
    To = *(void **)To;
  uint64_t I = 0;
  for (; I < D.width && From.isKnown(Position); ++I) {
    if (From.endsInNul())
      recordBranch(compare(SF_OP_EQ, 8, From.operand(Position), constant(0)), At);
    ++At.ordinal;
    if (!From.has(Position))
      break;
    if (To)
      storeLabel((uint64_t)To + I, 1, From.operand(Position).label);
    ++Position;
  }
  return I != 0;
}

} // namespace sf
