// Models of sprintf() and its relatives: printing into memory.
//
// The real function prints; then its format is followed to find which characters
// depend on what. A number's characters are rows of their own (SF_OP_PRINTED), so
// that a comparison of the text with a word is a question about the number.
#include "model.h"
#include "source.h"

#include "symfleet/printed_number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace sf;

SF_API const Label *__sf_take_args(const void *Self, uint32_t Count);
SF_API void __sf_take_varargs(const Label *Args, sf_varargs *Saved);
SF_API void __sf_va_start(const void *List, const sf_varargs *Passed);

namespace {

// The arguments of a variadic function, with their labels.
class Arguments {
public:
  explicit Arguments(va_list List) { memcpy(&V, List, sizeof(V)); }

  Operand integer(unsigned Bytes) {
    const uint64_t At = next(V.gpOffset, 8, 48);
    uint64_t Value = 0;
    readMemory(&Value, At, Bytes);
    return loadOperand(At, Bytes, Value);
  }
  double real() {
    double Value;
    const uint64_t At = next(V.fpOffset, 16, 176);
    readMemory(&Value, At, sizeof(Value));
    lose(At);
    return Value;
  }
  long double longReal() {
    V.overflow = (V.overflow + 15) & ~15ull;
    long double Value;
    readMemory(&Value, V.overflow, sizeof(Value));
    lose(V.overflow); // its digits; what has an exponent of the input has those, too
    V.overflow += 16;
    return Value;
  }

private:
  static void lose(uint64_t At) {
    uint64_t Value;
    readMemory(&Value, At, sizeof(Value));
    noteUnmodelledLocked(loadOperand(At, 8, Value).label,
                         "digits of a printed floating-point number");
  }
  uint64_t next(uint32_t &Offset, uint32_t Step, uint32_t Limit) {
    uint64_t At = V.saved + Offset;
    if (Offset < Limit) {
      Offset += Step;
      return At;
    }
    At = V.overflow;
    V.overflow += 8;
    return At;
  }

  struct { // as the System V ABI has it
    uint32_t gpOffset, fpOffset;
    uint64_t overflow, saved;
  } V;
};

// A conversion: "%-08.3lx".
struct Conversion {
  uint32_t flags = 0; // of sf_print_format
  bool quoted = false;
  int width = 0, precision = -1;
  unsigned bytes = 4;
  bool isLongDouble = false;
  char letter = 0;
};

class Printer {
public:
  // What was printed is at To; Room bytes of it were written, the NUL counts.
  Printer(const ModelCall &Call, char *To, uint64_t Room, const char *F, va_list List)
      : At{Call.site, 1}, To(To), Room(Room), F(F), Passed(List) {}

  // Returns the label of the size; the real function returned Size.
  Label follow(uint64_t Size);

private:
  bool one(const Conversion &C);
  void parse(Conversion &C);
  int star(const char *&P);
  void plain(uint64_t Count);
  void put(Operand Byte);
  void padded(uint64_t Count, const Conversion &C, bool Before);
  void word(const Conversion &C);
  void number(const Conversion &C, unsigned Base, bool Signed);
  void labelNumber(Operand Value, unsigned Bits, uint32_t Format, uint64_t Suffix, unsigned Size);
  bool real(const Conversion &C);
  bool suffix(uint64_t &Packed, unsigned &Size) const;

  Place At;
  char *To;
  uint64_t Room;
  const char *F;
  Arguments Passed;
  uint64_t Position = 0;
  Operand Length = {0, 0}; // of what a number's text may make longer
};

void Printer::put(Operand Byte) {
  if (Position + 1 < Room && To)
    storeLabel((uint64_t)To + Position, 1, live(Byte.label, (uint8_t)To[Position]));
  ++Position;
}

void Printer::plain(uint64_t Count) {
  for (uint64_t I = 0; I < Count; ++I)
    put(constant(0));
}

int Printer::star(const char *&P) {
  if (*P != '*') {
    int Value = 0;
    for (; *P >= '0' && *P <= '9'; ++P)
      Value = Value < 100000 ? Value * 10 + (*P - '0') : Value;
    return Value;
  }
  ++P;
  Operand Value = Passed.integer(4);
  recordShape(compare(SF_OP_EQ, 32, Value, constant(Value.value)), At);
  return (int)(uint32_t)Value.value;
}

void Printer::parse(Conversion &C) {
  for (;; ++F) {
    if (*F == '-')
      C.flags |= SF_PRINT_LEFT;
    else if (*F == '0')
      C.flags |= SF_PRINT_ZERO;
    else if (*F == '+')
      C.flags |= SF_PRINT_PLUS;
    else if (*F == ' ')
      C.flags |= SF_PRINT_SPACE;
    else if (*F == '#')
      C.flags |= SF_PRINT_ALTERNATE;
    else if (*F == '\'' || *F == 'I')
      C.quoted = true;
    else
      break;
  }
  C.width = star(F);
  if (C.width < 0) {
    C.flags |= SF_PRINT_LEFT;
    C.width = -C.width;
  }
  if (*F == '.') {
    ++F;
    C.precision = star(F);
  }
  for (;; ++F) {
    if (*F == 'h')
      C.bytes = C.bytes == 2 ? 1 : 2;
    else if (*F == 'l' || *F == 'j' || *F == 'z' || *F == 't' || *F == 'q' || *F == 'Z')
      C.bytes = 8;
    else if (*F == 'L')
      C.bytes = 8, C.isLongDouble = true;
    else
      break;
  }
  C.letter = *F;
  F += *F != 0;
}

void Printer::padded(uint64_t Count, const Conversion &C, bool Before) {
  if (Before == !(C.flags & SF_PRINT_LEFT) && Count < (uint64_t)C.width)
    plain((uint64_t)C.width - Count);
}

void Printer::word(const Conversion &C) {
  const char *S = (const char *)Passed.integer(8).value;
  const uint64_t Limit = C.precision < 0 ? UINT64_MAX : (uint64_t)C.precision;
  if (!S) { // "(null)", or nothing if that has no room
    const uint64_t Count = Limit < 6 ? 0 : 6;
    padded(Count, C, true);
    plain(Count);
    padded(Count, C, false);
    return;
  }
  const uint64_t Count = strnlen(S, Limit);
  for (uint64_t I = 0; I <= Count && I < Limit; ++I)
    recordShape(compare(SF_OP_EQ, 8, byteAt(S + I), constant(0)), At);
  padded(Count, C, true);
  for (uint64_t I = 0; I < Count; ++I)
    put(byteAt(S + I));
  padded(Count, C, false);
}

// What is behind this conversion, if it is a few plain characters.
bool Printer::suffix(uint64_t &Packed, unsigned &Size) const {
  Packed = 0;
  for (Size = 0; F[Size] && F[Size] != '%' && Size < SF_PRINT_SUFFIX_MAX; ++Size)
    Packed |= (uint64_t)(uint8_t)F[Size] << (8 * Size);
  Packed |= (uint64_t)Size << 56;
  return F[Size] == 0;
}

// Other sizes of the text are goals: longer ones always, because what is behind
// the text of this run is not part of it; shorter ones where this one is a fact.
void Printer::labelNumber(Operand Value, unsigned Bits, uint32_t Format, uint64_t Suffix,
                          unsigned Size) {
  const bool IsLast = Suffix != 0 || *F == 0;
  const unsigned Least = sf_printed_number(0, Bits, Format, Suffix).size;
  unsigned Most = sf_printed_number(maskOf(Bits), Bits, Format, Suffix).size;
  if (unsigned Other = sf_printed_number(1ull << (Bits - 1), Bits, Format, Suffix).size;
      Other > Most)
    Most = Other;
  Operand Text = textLength(Value, Bits, Format, Suffix);
  for (unsigned Other = IsLast ? Size + 1 : Least; Other <= Most && Least != Most;
       ++Other, ++At.ordinal)
    if (Other != Size)
      recordGoal(compare(SF_OP_EQ, 8, Text, constant(Other)), At);
  if (Least == Most)
    Text = constant(Size);
  else if (IsLast)
    Length = binary(SF_OP_ADD, 32, constant((uint32_t)Position), zext(Text, 8, 32));
  else
    recordFact(Text, At);
  for (unsigned I = 0; I < Size; ++I)
    put(textByte(Value, Bits, Format, Suffix, I));
  if (IsLast && Position < Room && To)
    storeLabel((uint64_t)To + Position, 1, textByte(Value, Bits, Format, Suffix, Size).label);
}

void Printer::number(const Conversion &C, unsigned Base, bool Signed) {
  const unsigned Bits = 8 * C.bytes;
  Operand Value = Passed.integer(C.bytes < 4 ? 4 : C.bytes);
  if (C.bytes < 4)
    Value = extract(Value, 32, 0, Bits);
  uint32_t Format = Base | C.flags | (Signed ? SF_PRINT_SIGNED : 0);
  const bool Fits =
      C.width <= (int)SF_PRINT_WIDTH_MAX && C.precision <= (int)SF_PRINT_PRECISION_MAX;
  if (C.quoted || !Fits) { // in the C locale a quote changes nothing
    recordFact(Value, At);
    char Spec[16], Letter = Base == 8 ? 'o' : Base == 16 ? 'x' : Signed ? 'd' : 'u';
    snprintf(Spec, sizeof(Spec), "%%*.*l%c", Letter);
    int64_t Wide = Signed ? signExtend(Value.value, Bits) : (int64_t)Value.value;
    plain((uint64_t)snprintf(nullptr, 0, Spec, C.width, C.precision, Wide));
    return;
  }
  Format |= (uint32_t)C.width << SF_PRINT_WIDTH_SHIFT | (uint32_t)(C.precision + 1)
                                                            << SF_PRINT_PRECISION_SHIFT;
  uint64_t Suffix = 0;
  unsigned SuffixSize = 0;
  if (!suffix(Suffix, SuffixSize))
    Suffix = SuffixSize = 0;
  const unsigned Size = sf_printed_number(Value.value, Bits, Format, Suffix).size;
  if (!Value.label) {
    plain(Size - SuffixSize);
    return;
  }
  labelNumber(Value, Bits, Format, Suffix, Size);
  F += SuffixSize;
}

bool Printer::real(const Conversion &C) {
  char Spec[24];
  snprintf(Spec, sizeof(Spec), "%%%s%s%s%s%s*.*%s%c", C.flags & SF_PRINT_LEFT ? "-" : "",
           C.flags & SF_PRINT_ZERO ? "0" : "", C.flags & SF_PRINT_PLUS ? "+" : "",
           C.flags & SF_PRINT_SPACE ? " " : "", C.flags & SF_PRINT_ALTERNATE ? "#" : "",
           C.isLongDouble ? "L" : "", C.letter);
  int Count = C.isLongDouble ? snprintf(nullptr, 0, Spec, C.width, C.precision, Passed.longReal())
                             : snprintf(nullptr, 0, Spec, C.width, C.precision, Passed.real());
  plain(Count > 0 ? (uint64_t)Count : 0);
  return Count >= 0 && !C.quoted;
}

// Follows one conversion; answers whether it is known.
bool Printer::one(const Conversion &C) {
  switch (C.letter) {
  case 'd':
  case 'i':
    number(C, 10, true);
    return true;
  case 'u':
    number(C, 10, false);
    return true;
  case 'o':
    number(C, 8, false);
    return true;
  case 'x':
  case 'X': {
    Conversion Cased = C;
    Cased.flags |= C.letter == 'X' ? SF_PRINT_UPPER : 0;
    number(Cased, 16, false);
    return true;
  }
  case 'c': {
    if (C.bytes == 8)
      return false;
    Operand Byte = extract(Passed.integer(4), 32, 0, 8);
    padded(1, C, true);
    put(Byte);
    padded(1, C, false);
    return true;
  }
  case 's':
    if (C.bytes == 8)
      return false;
    word(C);
    return true;
  case 'p': {
    Operand Pointer = Passed.integer(8);
    recordFact(Pointer, At);
    plain((uint64_t)snprintf(nullptr, 0, C.flags & SF_PRINT_LEFT ? "%-*p" : "%*p", C.width,
                             (void *)Pointer.value));
    return !(C.flags & ~SF_PRINT_LEFT) && C.precision < 0;
  }
  case 'n':
    clearLabels(Passed.integer(8).value, C.bytes);
    return true;
  case '%':
    plain(1);
    return true;
  case 'a':
  case 'A':
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
    return real(C);
  default: // wide characters, %m, positions
    return false;
  }
}

Label Printer::follow(uint64_t Size) {
  const uint64_t Written = Size + 1 < Room ? Size + 1 : Room;
  if (To)
    clearLabels((uint64_t)To, Written);
  while (*F) {
    if (*F != '%') {
      plain(1);
      ++F;
      continue;
    }
    ++F;
    Conversion C;
    parse(C);
    if (!one(C))
      break;
  }
  // Another idea of the text than the real function's is none.
  if (*F || Position != Size) {
    if (To)
      clearLabels((uint64_t)To, Written);
    return 0;
  }
  return Length.value == Size ? Length.label : 0;
}

void printed(ModelCall &Call, char *To, uint64_t Room, const char *F, va_list List, int Size) {
  KeepErrno Keep;
  if (Size < 0)
    return;
  if (TableLock Lock; Lock)
    Call.returns(Printer(Call, To, Room, F, List).follow((uint64_t)Size));
}

} // namespace

extern "C" int __vsprintf_chk(char *, int, size_t, const char *, va_list);
extern "C" int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list);
extern "C" int __vasprintf_chk(char **, int, const char *, va_list);

// name(Parameters, ...) and vname(Parameters, va_list): Real is the call of the
// latter, To and Room what it printed into.
#define SF_PRINT_MODEL(name, vname, parameters, last, arguments, real, to, room)                   \
  static int print_##vname(ModelCall &Call, SF_UNPACK parameters, va_list List) {                  \
    va_list Copy;                                                                                  \
    va_copy(Copy, List);                                                                           \
    int Size = real;                                                                               \
    printed(Call, to, room, F, Copy, Size);                                                        \
    va_end(Copy);                                                                                  \
    return Size;                                                                                   \
  }                                                                                                \
  SF_MODEL_API int __sf_model_##vname(SF_UNPACK parameters, va_list List) {                        \
    if (!G.recording)                                                                              \
      return real;                                                                                 \
    ModelCall Call((const void *)__sf_model_##vname, 0);                                           \
    return print_##vname(Call, SF_UNPACK arguments, List);                                         \
  }                                                                                                \
  SF_MODEL_API int __sf_model_##name(SF_UNPACK parameters, ...) {                                  \
    va_list List;                                                                                  \
    va_start(List, last);                                                                          \
    int Size;                                                                                      \
    if (G.recording) {                                                                             \
      sf_varargs Passed{};                                                                         \
      __sf_take_varargs(__sf_take_args((const void *)__sf_model_##name, SF_CALL_LABELS), &Passed); \
      __sf_va_start(List, &Passed);                                                                \
      ModelCall Call((const void *)__sf_model_##name, 0);                                          \
      Size = print_##vname(Call, SF_UNPACK arguments, List);                                       \
    } else {                                                                                       \
      Size = real;                                                                                 \
    }                                                                                              \
    va_end(List);                                                                                  \
    return Size;                                                                                   \
  }
#define SF_UNPACK(...) __VA_ARGS__

SF_PRINT_MODEL(sprintf, vsprintf, (char *To, const char *F), F, (To, F), vsprintf(To, F, List), To,
               UINT64_MAX)
SF_PRINT_MODEL(snprintf, vsnprintf, (char *To, size_t Room, const char *F), F, (To, Room, F),
               vsnprintf(To, Room, F, List), To, Room)
SF_PRINT_MODEL(asprintf, vasprintf, (char **To, const char *F), F, (To, F), vasprintf(To, F, List),
               Size < 0 ? nullptr : *To, UINT64_MAX)
SF_PRINT_MODEL(__sprintf_chk, __vsprintf_chk, (char *To, int Flag, size_t Object, const char *F), F,
               (To, Flag, Object, F), __vsprintf_chk(To, Flag, Object, F, List), To, UINT64_MAX)
SF_PRINT_MODEL(__snprintf_chk, __vsnprintf_chk,
               (char *To, size_t Room, int Flag, size_t Object, const char *F), F,
               (To, Room, Flag, Object, F), __vsnprintf_chk(To, Room, Flag, Object, F, List), To,
               Room)
SF_PRINT_MODEL(__asprintf_chk, __vasprintf_chk, (char **To, int Flag, const char *F), F,
               (To, Flag, F), __vasprintf_chk(To, Flag, F, List), Size < 0 ? nullptr : *To,
               UINT64_MAX)
