// Models of what a std::ostream writes into a string, for libstdc++: numbers, and
// what std::cin has.
//
// Its members live in a shared object that is not instrumented. The real one does
// the work; its text is then found at the end of what the string's buffer holds.
// A number's characters are rows of their own, as those of printf() are. Other
// streams are left alone: what they are given goes out of the program.
#include "input.h"
#include "istream_text.h"
#include "model.h"

#include "symfleet/printed_number.h"

#include <string.h>

using namespace sf;

extern "C" const void *classicLocale() asm("_ZNSt6locale7classicEv")
    __attribute__((weak)); // a pointer is all it has

namespace {

uint64_t writtenSize(void *Buffer) {
  return field<uint64_t>(Buffer, 40) - field<uint64_t>(Buffer, 32);
}

// A buffer that makes a string, before something is written to it.
class StringOutput {
public:
  explicit StringOutput(void *To) {
    if (!G.recording || !To || !StringbufTable || tableOf(To) != StringbufTable)
      return;
    buffer = To;
    before = writtenSize(To);
  }

  bool isKnown() const { return buffer; }
  // Afterwards: how much was written, and where it is.
  uint64_t size() const {
    const uint64_t Now = writtenSize(buffer);
    return Now > before ? Now - before : 0;
  }
  uint8_t *text() const { return field<uint8_t *>(buffer, 40) - size(); }

private:
  void *buffer = nullptr;
  uint64_t before = 0;
};

// ---- Numbers

// How a stream prints its next number: as it is in this run.
struct Style {
  int flags = 0;
  uint64_t width = 0;
  uint8_t fill = ' ';
  bool isClassic = false; // no locale that puts something between digits

  Style(void *Stream, const ModelCall &Call) {
    void *Ios = iosOf(Stream);
    const int64_t Width = field<int64_t>(Ios, 16);
    width = Width > 0 ? (uint64_t)Width : 0;
    flags = field<int>(Ios, 24);
    if (field<bool>(Ios, 225)) // it has been set
      fill = field<uint8_t>(Ios, 224);
    isClassic = classicLocale && field<void *>(Ios, 208) == *(void *const *)classicLocale();
    KeepErrno Keep;
    TableLock Lock;
    if (!Lock)
      return;
    recordFact(loadOperand((uint64_t)Ios + 16, 8, (uint64_t)Width), Call.at(1));
    recordFact(loadOperand((uint64_t)Ios + 24, 4, (uint32_t)flags), Call.at(2));
    recordFact(loadOperand((uint64_t)Ios + 224, 1, field<uint8_t>(Ios, 224)), Call.at(3));
  }

  bool isDecimal() const { return base() == 10; }
  unsigned base() const {
    const int Base = flags & (Decimal | Hexadecimal | Octal);
    return Base == Hexadecimal ? 16 : Base == Octal ? 8 : 10;
  }
  int side() const { return flags & (PadsInside | PadsBehind | PadsBefore); }
};

struct Number {
  Operand value;
  unsigned bits;
  bool isSigned;
};

// A number's text, and what fills the width of the stream without being part of it.
class PrintedText {
public:
  PrintedText(const ModelCall &Call, const Number &N, const Style &S) : of(N) {
    const bool HasSign = N.isSigned && S.isDecimal();
    format = S.base() | (HasSign ? SF_PRINT_SIGNED : 0);
    format |= HasSign && S.flags & ShowsPlus ? SF_PRINT_PLUS : 0;
    format |= S.flags & ShowsBase ? SF_PRINT_ALTERNATE : 0;
    format |= S.flags & Uppercase ? SF_PRINT_UPPER : 0;
    if (S.width)
      fillUp(Call, S, HasSign || (S.base() == 16 && S.flags & ShowsBase));
    size = at(N.value.value).size;
    if (padding > size)
      padding -= size;
    else
      padding = 0;
  }

  // Whether this is what the real function has written.
  bool is(const uint8_t *Text, uint64_t Size) const {
    const sf_printed Mine = at(of.value.value);
    return Size == size + padding && memcmp(start(Text), Mine.at, size) == 0;
  }

  // Another size is a goal; that of this run is a fact for all that is behind it.
  void label(const ModelCall &Call, uint8_t *Text) const {
    if (isFixed) {
      recordFact(of.value, Call.at(0));
      return;
    }
    const unsigned Least = at(0).size;
    unsigned Most = at(maskOf(of.bits)).size;
    if (const unsigned Other = at(1ull << (of.bits - 1)).size; Other > Most)
      Most = Other;
    const Operand Length = textLength(of.value, of.bits, format, 0);
    for (unsigned Other = Least; Least != Most && Other <= Most; ++Other)
      if (Other != size)
        recordGoal(compare(SF_OP_EQ, 8, Length, constant(Other)), Call.at(Other));
    if (Least != Most)
      recordFact(Length, Call.at(0));
    for (unsigned I = 0; I < size; ++I)
      storeLabel((uint64_t)start(Text) + I, 1,
                 live(textByte(of.value, of.bits, format, 0, I).label, start(Text)[I]));
  }

private:
  sf_printed at(uint64_t Value) const { return sf_printed_number(Value, of.bits, format, 0); }
  const uint8_t *start(const uint8_t *Text) const { return padsBehind ? Text : Text + padding; }

  // Where printf() can fill a width in the same way, that is part of the format.
  void fillUp(const ModelCall &Call, const Style &S, bool HasStart) {
    const bool Inside = S.side() == PadsInside && HasStart;
    padsBehind = S.side() == PadsBehind;
    bool FillsZeros = S.fill == '0' && !padsBehind && (Inside || !HasStart);
    if (S.fill == '0' && !padsBehind && !FillsZeros && format == (10 | SF_PRINT_SIGNED)) {
      const Operand Negative = extract(of.value, of.bits, of.bits - 1, 1);
      recordBranch(Negative, Call.at(SignOrdinal));
      FillsZeros = !Negative.value;
      format = FillsZeros ? 10 : format;
    }
    if (S.width <= SF_PRINT_WIDTH_MAX && (FillsZeros || (S.fill == ' ' && !Inside))) {
      format |= (uint32_t)S.width << SF_PRINT_WIDTH_SHIFT;
      format |= FillsZeros ? SF_PRINT_ZERO : padsBehind ? SF_PRINT_LEFT : 0;
      return;
    }
    padding = S.width;
    isFixed = Inside;
  }

  static constexpr unsigned SignOrdinal = SF_PRINT_MAX + 1;

  Number of;
  uint32_t format = 0;
  unsigned size = 0;
  uint64_t padding = 0;
  bool padsBehind = false;
  bool isFixed = false; // it is filled inside, which only the value tells where
};

void numberPrinted(const ModelCall &Call, const StringOutput &Out, const Style &S, Number N) {
  KeepErrno Keep;
  if (!Out.isKnown() || !Out.size())
    return;
  clearLabels((uint64_t)Out.text(), Out.size());
  TableLock Lock;
  if (!Lock || !N.value.label)
    return;
  const PrintedText Text(Call, N, S);
  if (S.isClassic && Text.is(Out.text(), Out.size()))
    Text.label(Call, Out.text());
  else {
    noteUnmodelledLocked(N.value.label, "digits of a number that another locale prints");
    recordFact(N.value, Call.at(0));
  }
}

// A word for it or its number: one question.
void truthPrinted(const ModelCall &Call, const StringOutput &Out, Operand Value) {
  KeepErrno Keep;
  if (!Out.isKnown() || !Out.size())
    return;
  clearLabels((uint64_t)Out.text(), Out.size());
  if (TableLock Lock; Lock)
    recordBranch(Value, Call.at(0));
}

// Bits: of the number, or of its mantissa.
void realPrinted(const ModelCall &Call, const StringOutput &Out, uint64_t Bits) {
  KeepErrno Keep;
  if (!Out.isKnown() || !Out.size())
    return;
  clearLabels((uint64_t)Out.text(), Out.size());
  if (TableLock Lock; Lock)
    noteUnmodelledLocked(Call.argument(1, Bits).label, "digits of a printed floating-point number");
}

// ---- All that std::cin has

// What a buffer of the input's file is about to give.
class SharedInput {
public:
  explicit SharedInput(void *Buffer) {
    if (!G.recording || !Buffer || !SyncFilebufTable || tableOf(Buffer) != SyncFilebufTable)
      return;
    KeepErrno Keep;
    FILE *Stream = field<FILE *>(Buffer, 64);
    constexpr int InBackup = 0x100;
    if (!isInputStream(Stream) || Stream->_flags & InBackup)
      return;
    offset = ftello(Stream);
    file = Stream;
  }

  void copiedTo(const StringOutput &Out) const {
    KeepErrno Keep;
    if (!Out.isKnown() || !file || offset < 0)
      return;
    const uint64_t Size = Out.size();
    if (ftello(file) != offset + (off_t)Size)
      return;
    deliver(Out.text(), (uint64_t)offset, Size, Size + (feof(file) ? 1 : 0));
  }

private:
  FILE *file = nullptr;
  off_t offset = -1;
};

} // namespace

// The opening of a model, which those below complete.
#define SF_INSERTER_BEGIN(name, type)                                                              \
  SF_STREAM_REAL(void *, name, (void *, type))                                                     \
  SF_MODEL_API void *__sf_model_##name(void *Stream, type Value) {                                 \
    const StringOutput Out(G.recording ? bufferOf(Stream) : nullptr);                              \
    if (!Out.isKnown())                                                                            \
      return real##name(Stream, Value);                                                            \
    ModelCall Call((const void *)__sf_model_##name, 2);

#define SF_NUMBER_INSERTER(name, type, is_signed)                                                  \
  SF_INSERTER_BEGIN(name, type)                                                                    \
  const Style S(Stream, Call);                                                                     \
  void *Result = real##name(Stream, Value);                                                        \
  constexpr unsigned Bits = 8 * sizeof(type);                                                      \
  numberPrinted(Call, Out, S,                                                                      \
                {Call.argument(1, (uint64_t)Value & maskOf(Bits)), Bits, is_signed});              \
  return Result;                                                                                   \
  }
SF_NUMBER_INSERTER(_ZNSolsEs, short, true)
SF_NUMBER_INSERTER(_ZNSolsEt, unsigned short, false)
SF_NUMBER_INSERTER(_ZNSolsEi, int, true)
SF_NUMBER_INSERTER(_ZNSolsEj, unsigned, false)
SF_NUMBER_INSERTER(_ZNSolsEl, long, true)
SF_NUMBER_INSERTER(_ZNSolsEm, unsigned long, false)
SF_NUMBER_INSERTER(_ZNSolsEx, long long, true)
SF_NUMBER_INSERTER(_ZNSolsEy, unsigned long long, false)
SF_NUMBER_INSERTER(_ZNSo9_M_insertIlEERSoT_, long, true)
SF_NUMBER_INSERTER(_ZNSo9_M_insertImEERSoT_, unsigned long, false)
SF_NUMBER_INSERTER(_ZNSo9_M_insertIxEERSoT_, long long, true)
SF_NUMBER_INSERTER(_ZNSo9_M_insertIyEERSoT_, unsigned long long, false)

#define SF_TRUTH_INSERTER(name)                                                                    \
  SF_INSERTER_BEGIN(name, bool)                                                                    \
  void *Result = real##name(Stream, Value);                                                        \
  truthPrinted(Call, Out, Call.argument(1, Value));                                                \
  return Result;                                                                                   \
  }
SF_TRUTH_INSERTER(_ZNSolsEb)

#define SF_REAL_INSERTER(name, type)                                                               \
  SF_INSERTER_BEGIN(name, type)                                                                    \
  uint64_t Bits = 0;                                                                               \
  memcpy(&Bits, &Value, sizeof(type) < 8 ? sizeof(type) : 8);                                      \
  void *Result = real##name(Stream, Value);                                                        \
  realPrinted(Call, Out, Bits);                                                                    \
  return Result;                                                                                   \
  }
SF_REAL_INSERTER(_ZNSolsEf, float)
SF_REAL_INSERTER(_ZNSolsEd, double)
SF_REAL_INSERTER(_ZNSolsEe, long double)
SF_REAL_INSERTER(_ZNSo9_M_insertIdEERSoT_, double)
SF_REAL_INSERTER(_ZNSo9_M_insertIeEERSoT_, long double)

// Stream: of the one that is called. From and To: what is copied.
#define SF_COPY_MODEL(name, from, to)                                                              \
  SF_STREAM_REAL(void *, name, (void *, void *))                                                   \
  SF_MODEL_API void *__sf_model_##name(void *Stream, void *Buffer) {                               \
    if (!G.recording)                                                                              \
      return real##name(Stream, Buffer);                                                           \
    const SharedInput From(from);                                                                  \
    const StringOutput Out(to);                                                                    \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    void *Result = real##name(Stream, Buffer);                                                     \
    From.copiedTo(Out);                                                                            \
    return Result;                                                                                 \
  }
SF_COPY_MODEL(_ZNSolsEPSt15basic_streambufIcSt11char_traitsIcEE, Buffer, bufferOf(Stream))
SF_COPY_MODEL(_ZNSirsEPSt15basic_streambufIcSt11char_traitsIcEE, bufferOf(Stream), Buffer)
