// Models of sscanf() and its relatives.
//
// The real function does the work; then its format is followed over the text
// that it read. Each literal byte and each end of a field decides something; the
// value of a number is an expression over its bytes (number.h). What stopped the
// function is a goal as a whole too: a text that fits all of the format.
#include "float_text.h"
#include "input.h"
#include "memory_stream.h"
#include "model.h"
#include "shadow.h"
#include "source.h"

#include "symfleet/scanned_number.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

using namespace sf;

namespace {

// The bytes that a conversion takes.
struct ByteSet {
  uint8_t members[256];

  bool has(uint64_t Byte) const { return members[Byte & 0xff]; }

  static ByteSet words(bool NulEnds) {
    ByteSet Out;
    for (unsigned I = 0; I < 256; ++I)
      Out.members[I] = !isSpaceByte(I) && !(NulEnds && I == 0);
    return Out;
  }

  // Reads "...]" behind a '[' and returns what follows it.
  const char *parse(const char *F, bool NulEnds) {
    const bool Negated = *F == '^';
    F += Negated;
    memset(members, Negated, sizeof(members));
    const char *First = F;
    while (*F && (*F != ']' || F == First)) {
      uint8_t Low = (uint8_t)*F, High = Low;
      if (F[1] == '-' && F[2] && F[2] != ']') {
        High = (uint8_t)F[2];
        F += 2;
      }
      ++F;
      for (unsigned C = Low; C <= High; ++C)
        members[C] = !Negated;
    }
    if (NulEnds)
      members[0] = 0;
    return *F ? F + 1 : F;
  }

  char example() const {
    static const char Preferred[] = "a1A.";
    for (const char *P = Preferred; *P; ++P)
      if (has((uint8_t)*P))
        return *P;
    for (unsigned I = 1; I < 256; ++I)
      if (has(I))
        return (char)I;
    return 'a';
  }
};

uint64_t takesByte(uint64_t Byte, const void *Set) { return ((const ByteSet *)Set)->has(Byte); }
uint64_t takenByte(uint64_t Byte, const void *Set) {
  return ((const ByteSet *)Set)->has(Byte) ? Byte : 0;
}

// One part of a format.
struct Directive {
  enum Kind { End, Space, Literal, Number, Float, Word, Characters, Count, Unknown } kind;
  bool suppressed = false, allocates = false;
  uint64_t width = 0; // 0: none
  unsigned bytes = 4; // of the variable
  unsigned base = 10;
  unsigned format = SF_SINGLE; // of a float
  bool isSigned = false, skipsSpace = false;
  char literal = 0;
  ByteSet set;
};

class Format {
public:
  Format(const char *F, bool NulEnds) : F(F), NulEnds(NulEnds) {}

  // Takes the next part.
  void next(Directive &Out);

private:
  void conversion(Directive &Out);
  void length(Directive &Out);

  const char *F;
  bool NulEnds; // a string's
};

void Format::next(Directive &Out) {
  Out = Directive{};
  Out.kind = Directive::End;
  if (!*F)
    return;
  if (isSpaceByte((uint8_t)*F)) {
    while (isSpaceByte((uint8_t)*F))
      ++F;
    Out.kind = Directive::Space;
  } else if (*F != '%') {
    Out.kind = Directive::Literal;
    Out.literal = *F++;
  } else {
    ++F;
    conversion(Out);
  }
}

void Format::length(Directive &Out) {
  for (;; ++F)
    switch (*F) {
    case 'h':
      Out.bytes = Out.bytes == 2 ? 1 : 2;
      break;
    case 'l':
      Out.format = Out.bytes == 8 ? SF_X87 : SF_DOUBLE;
      Out.bytes = 8;
      break;
    case 'q':
    case 'L':
      Out.format = SF_X87;
      Out.bytes = 8;
      break;
    case 'j':
    case 'z':
    case 't':
      Out.bytes = 8;
      break;
    case 'm':
      Out.allocates = true;
      break;
    default:
      return;
    }
}

void Format::conversion(Directive &Out) {
  if (*F == '*') {
    Out.suppressed = true;
    ++F;
  }
  for (; *F >= '0' && *F <= '9'; ++F)
    Out.width = Out.width * 10 + (uint64_t)(*F - '0');
  length(Out);
  const char Letter = *F;
  if (Letter)
    ++F;
  const bool Wide = Out.bytes == 8;
  Out.kind = Directive::Number;
  switch (Letter) {
  case 'd':
  case 'i':
    Out.base = Letter == 'd' ? 10 : 0;
    Out.isSigned = true;
    return;
  case 'u':
    return;
  case 'o':
    Out.base = 8;
    return;
  case 'x':
  case 'X':
    Out.base = 16;
    return;
  case 's':
    Out.kind = Wide ? Directive::Unknown : Directive::Word;
    Out.skipsSpace = true;
    Out.set = ByteSet::words(NulEnds);
    return;
  case '[':
    Out.kind = Wide ? Directive::Unknown : Directive::Word;
    F = Out.set.parse(F, NulEnds);
    return;
  case 'c':
    Out.kind = Wide ? Directive::Unknown : Directive::Characters;
    Out.width = Out.width ? Out.width : 1;
    return;
  case 'n':
    Out.kind = Directive::Count;
    return;
  case '%':
    Out.kind = Directive::Literal;
    Out.literal = '%';
    Out.skipsSpace = true;
    return;
  case 'a':
    if (*F == 's' || *F == 'S' || *F == '[') // an old way to have memory allocated
      break;
    [[fallthrough]];
  case 'A':
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
    Out.kind = Directive::Float;
    return;
  default: // wide characters, positions
    break;
  }
  Out.kind = Directive::Unknown;
}

class Scanner {
public:
  Scanner(const ModelCall &Call, const Source &From, const char *FormatText, bool KnowsBinary)
      : Call(Call), From(From), Rest(FormatText, From.endsInNul()), At{Call.site, 1},
        KnowsBinary(KnowsBinary) {}

  // Answers how far it could follow. The real function made so many assignments.
  uint64_t follow(va_list Arguments, int Assigned);

private:
  bool literal(const Directive &D);
  bool number(const Directive &D, void *To);
  bool floating(const Directive &D, void *To);
  bool word(const Directive &D, void *To);
  bool characters(const Directive &D, void *To);
  unsigned literalsToCount(char *Literals) const;
  Operand endOfWord(const Directive &D, uint64_t Start);
  void proposeRest(const Directive &First, const Format &Behind);
  bool isComplete(int Assigned) const;
  void store(void *To, unsigned Bytes, Operand Value);
  bool isLast() const {
    Format Copy = Rest;
    Directive D;
    do
      Copy.next(D);
    while (D.kind == Directive::Count);
    return D.kind == Directive::End && !From.isFile();
  }

  const ModelCall &Call;
  const Source &From;
  Format Rest;
  Place At;
  uint64_t Position = 0;
  Operand Where = constant(0); // the position, for %n
  bool KnowsBinary;
};

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

bool isNumeric(const Directive &D) {
  return D.kind == Directive::Number || D.kind == Directive::Float;
}

bool isField(const Directive &D) {
  return isNumeric(D) || (D.kind == Directive::Word && D.skipsSpace);
}

// A text that fits a format. Between fields is space, or, if they are packed,
// nothing behind a number that has all of its width.
class Example {
public:
  Example(Directive D, Format Behind, bool IsPacked);
  bool operator==(const Example &Other) const {
    return Size == Other.Size && memcmp(Text, Other.Text, Size) == 0;
  }

  static constexpr unsigned SizeMax = 64;
  char Text[SizeMax];
  unsigned Size = 0;

private:
  void add(const Directive &D, bool IsFull);
  void add(char C, uint64_t Count = 1) {
    while (Count--)
      Text[Size++] = C;
  }
};

Example::Example(Directive D, Format Behind, bool IsPacked) {
  for (bool IsOpen = false; D.kind != Directive::End && D.kind != Directive::Unknown;) {
    Directive Next;
    Behind.next(Next);
    const bool IsFull = IsPacked && isNumeric(D) && D.width && isField(Next);
    if (Size + 2 + (D.kind == Directive::Characters || IsFull ? D.width : 0) > SizeMax)
      return;
    if (isField(D) && IsOpen)
      add(' ');
    add(D, IsFull);
    IsOpen = isField(D) && !IsFull;
    D = Next;
  }
}

void Example::add(const Directive &D, bool IsFull) {
  if (D.kind == Directive::Space)
    add(' ');
  else if (D.kind == Directive::Literal)
    add(D.literal);
  else if (IsFull)
    add('0', D.width - 1);
  if (isNumeric(D))
    add('1');
  else if (D.kind == Directive::Word)
    add(D.set.example());
  else if (D.kind == Directive::Characters)
    add('a', D.width);
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
    noteUnmodelled(Read.any(), "a number of another locale, rounding or length");
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
constexpr unsigned LiteralsMax = 4;
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

int scannedString(const ModelCall &Call, const char *S, const char *FormatText, va_list Arguments,
                  bool KnowsBinary, int Assigned) {
  KeepErrno Keep;
  TableLock Lock;
  if (Lock)
    Scanner(Call, Source::string(S), FormatText, KnowsBinary).follow(Arguments, Assigned);
  return Assigned;
}

// Where a stream stood before the real function read from it.
struct StreamBefore {
  explicit StreamBefore(FILE *Stream) : stream(Stream), memory(Stream) {
    KeepErrno Keep;
    constexpr int InBackup = 0x100; // characters that ungetc() put back
    if (G.recording && isInputStream(Stream) && !(Stream->_flags & InBackup))
      offset = ftello(Stream);
  }

  FILE *stream;
  MemoryAhead memory;
  off_t offset = -1;
};

int scannedStream(const ModelCall &Call, const StreamBefore &Before, const char *FormatText,
                  va_list Arguments, bool KnowsBinary, int Assigned) {
  KeepErrno Keep;
  if (Before.memory)
    if (TableLock Lock; Lock)
      Scanner(Call, Source::memory(Before.memory.bytes, Before.memory.size), FormatText,
              KnowsBinary)
          .follow(Arguments, Assigned);
  if (Before.offset < 0)
    return Assigned;
  uint8_t Room[Source::FileBytesMax];
  Source From = Source::file(fileno(Before.stream), (uint64_t)Before.offset, Room);
  uint64_t End = 0;
  if (TableLock Lock; Lock)
    End = Scanner(Call, From, FormatText, KnowsBinary).follow(Arguments, Assigned);
  __atomic_fetch_add(&G.header->symbolic_bytes, End + (End < From.size()), __ATOMIC_RELAXED);
  if (feof(Before.stream) && From.size() < Source::FileBytesMax)
    sf::deliver(Room, (uint64_t)Before.offset + From.size(), 0, 1);
  return Assigned;
}

} // namespace

#define SF_REAL_SCAN(prefix, weakness)                                                             \
  extern "C" weakness int real_##prefix##vsscanf(const char *, const char *,                       \
                                                 va_list) asm(#prefix "vsscanf");                  \
  extern "C" weakness int real_##prefix##vfscanf(FILE *, const char *,                             \
                                                 va_list) asm(#prefix "vfscanf");
SF_REAL_SCAN(, )
SF_REAL_SCAN(__isoc99_, )
SF_REAL_SCAN(__isoc23_, __attribute__((weak)))

#define SF_SCAN_MODELS(prefix, binary)                                                             \
  SF_MODEL_API int __sf_model_##prefix##vsscanf(const char *S, const char *F, va_list List) {      \
    if (!G.recording)                                                                              \
      return real_##prefix##vsscanf(S, F, List);                                                   \
    ModelCall Call((const void *)__sf_model_##prefix##vsscanf, 0);                                 \
    va_list Copy;                                                                                  \
    va_copy(Copy, List);                                                                           \
    int Assigned = real_##prefix##vsscanf(S, F, List);                                             \
    scannedString(Call, S, F, Copy, binary, Assigned);                                             \
    va_end(Copy);                                                                                  \
    return Assigned;                                                                               \
  }                                                                                                \
  SF_MODEL_API int __sf_model_##prefix##vfscanf(FILE *S, const char *F, va_list List) {            \
    beginAt(S);                                                                                    \
    if (!G.recording)                                                                              \
      return real_##prefix##vfscanf(S, F, List);                                                   \
    ModelCall Call((const void *)__sf_model_##prefix##vfscanf, 0);                                 \
    const StreamBefore Before(S);                                                                  \
    va_list Copy;                                                                                  \
    va_copy(Copy, List);                                                                           \
    int Assigned = real_##prefix##vfscanf(S, F, List);                                             \
    scannedStream(Call, Before, F, Copy, binary, Assigned);                                        \
    va_end(Copy);                                                                                  \
    return Assigned;                                                                               \
  }                                                                                                \
  SF_MODEL_API int __sf_model_##prefix##vscanf(const char *F, va_list List) {                      \
    int Assigned = __sf_model_##prefix##vfscanf(stdin, F, List);                                   \
    return Assigned;                                                                               \
  }                                                                                                \
  SF_MODEL_API int __sf_model_##prefix##sscanf(const char *S, const char *F, ...) {                \
    va_list List;                                                                                  \
    va_start(List, F);                                                                             \
    int Assigned = __sf_model_##prefix##vsscanf(S, F, List);                                       \
    va_end(List);                                                                                  \
    return Assigned;                                                                               \
  }                                                                                                \
  SF_MODEL_API int __sf_model_##prefix##fscanf(FILE *S, const char *F, ...) {                      \
    va_list List;                                                                                  \
    va_start(List, F);                                                                             \
    int Assigned = __sf_model_##prefix##vfscanf(S, F, List);                                       \
    va_end(List);                                                                                  \
    return Assigned;                                                                               \
  }                                                                                                \
  SF_MODEL_API int __sf_model_##prefix##scanf(const char *F, ...) {                                \
    va_list List;                                                                                  \
    va_start(List, F);                                                                             \
    int Assigned = __sf_model_##prefix##vfscanf(stdin, F, List);                                   \
    va_end(List);                                                                                  \
    return Assigned;                                                                               \
  }
SF_SCAN_MODELS(, false)
SF_SCAN_MODELS(__isoc99_, false)
SF_SCAN_MODELS(__isoc23_, true)
