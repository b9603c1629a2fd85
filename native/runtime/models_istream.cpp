// Models of what std::istream reads, for libstdc++.
//
// Its members live in a shared object that is not instrumented. The real one does
// the work; what it took is found where the stream was about to read (istream_text.h).
#include "istream_text.h"
#include "model.h"

#include <string.h>

using namespace sf;

namespace {

// ---- Numbers

struct Variable {
  void *at;
  unsigned bits;
  bool isSigned;
};

uint64_t isSign(uint64_t Byte, const void *) { return Byte == '+' || Byte == '-'; }

// Space and a sign are gone also where no number is behind them.
void noNumberRead(const Source &From, bool SkipsSpace, Place At) {
  const uint64_t I = SkipsSpace ? skipSpace(From, 0, At) : 0;
  if (From.isKnown(I))
    recordShape(memberBit(From.operand(I), isSign, nullptr, At), At);
}

void numberRead(const ModelCall &Call, const StreamText &Before, const Variable &To) {
  KeepErrno Keep;
  uint8_t Room[Source::FileBytesMax];
  clearLabels((uint64_t)To.at, To.bits / 8);
  if (!Before.isKnown())
    return;
  const Source From = Before.source(Room);
  Before.noteRead(From);
  TableLock Lock;
  if (!Lock)
    return;
  NumberForm Form = Before.form(To.isSigned ? NumberRange::Signed : NumberRange::Unsigned);
  const Text Here = From.from(0, TextBytesMax + 1);
  ParsedNumber Number;
  if (!parseNumber(Here, Form, Call.at(0), Number))
    return;
  Operand Wide = Number.value;
  suggestTexts(Here, Form, To.bits, Number);
  recordGoal(Number.negative, Call.at(1));
  recordBranch(Number.isNumber, Call.at(2));
  recordBranch(Number.bare, Call.at(6)); // no number for a stream
  // Where there is no number, the rest is known too: that it cannot be otherwise is
  // dear to prove, and asked again once there is one.
  if (!Number.isNumber.value)
    noNumberRead(From, Form.skipsSpace, Call.at(7));
  else
    recordBranch(Number.over, Call.at(3));
  // What does not fit is an error. Where no content of these bytes is that large, a
  // solver need not prove it: a text that is too long for any width has been proposed.
  const bool MayExceed = Number.greatest > maskOf(To.bits - To.isSigned);
  if (Number.isNumber.value && To.bits < 64 && MayExceed) {
    Operand Magnitude = ite(Number.negative, 64, binary(SF_OP_SUB, 64, constant(0), Wide), Wide);
    Operand Fits =
        To.isSigned ? compare(SF_OP_EQ, 64, Wide, sext(extract(Wide, 64, 0, To.bits), To.bits, 64))
                    : compare(SF_OP_ULE, 64, Magnitude, constant(maskOf(To.bits)));
    recordBranch(Fits, Call.at(4));
  }
  if (Number.isNumber.value)
    recordEnd(Number, Call.at(5));
  uint64_t Stored = 0;
  readMemory(&Stored, (uint64_t)To.at, To.bits / 8);
  storeLabel((uint64_t)To.at, To.bits / 8, live(Number.value.label, Stored));
}

// ---- Characters

void characterRead(const ModelCall &Call, const StreamText &Before, bool Skips, void *To,
                   Operand *Out) {
  KeepErrno Keep;
  uint8_t Room[Source::FileBytesMax];
  if (To)
    clearLabels((uint64_t)To, 1);
  if (!Before.isKnown())
    return;
  const Source From = Before.source(Room);
  Before.noteRead(From);
  TableLock Lock;
  Place At = Call.at(0);
  const uint64_t I = Lock && Skips ? skipSpace(From, 0, At) : 0;
  if (!Lock || !From.isKnown(I))
    return;
  Operand Byte = From.operand(I);
  if (To)
    storeLabel((uint64_t)To, 1, live(Byte.label, *(uint8_t *)To));
  if (Out)
    *Out = Byte;
}

// ---- Words and lines

// Where a word or line ends.
struct Ending {
  bool atSpace;
  uint8_t delimiter;
};

uint64_t endsWord(uint64_t Byte, const void *Context) {
  auto *E = (const Ending *)Context;
  return E->atSpace ? isSpaceByte(Byte) : Byte == E->delimiter;
}
uint64_t cutsWord(uint64_t Byte, const void *Context) { return endsWord(Byte, Context) ? 0 : Byte; }

// Bytes up to the end of a word from Start, as an expression: another end is one
// question. Looks some bytes further than the word of this run.
Operand wordSize(const Source &From, uint64_t Start, uint64_t Count, uint64_t Most, const Ending &E,
                 Place &At) {
  constexpr uint64_t Further = 16;
  // A word that has as many characters as there may be ends without an end.
  uint64_t Last = Start + (Most - Count > Further ? Count + Further : Most - 1);
  while (Last > Start && !From.isKnown(Last))
    --Last;
  Operand Size = constant(Last + 1 - Start);
  if (!From.isKnown(Start) || Count > Last + 1 - Start)
    return constant(Count);
  for (uint64_t I = Last + 1; I-- > Start;)
    Size = ite(memberBit(From.operand(I), endsWord, &E, At), 64, constant(I - Start), Size);
  return Size;
}

// Bytes of a word, of which the program gets at most so many.
uint64_t countWord(const Source &From, uint64_t Start, const Ending &E, uint64_t Most) {
  uint64_t Count = 0;
  while (Count < Most && From.isKnown(Start + Count) && !endsWord(From.byte(Start + Count), &E))
    ++Count;
  return Count;
}

// Labels the copy at To of a word; the size of it, if Size is asked for. Count is
// that of a string; an array may hold bytes of zero.
void wordRead(const ModelCall &Call, const StreamText &Before, bool Skips, const Ending &E,
              uint64_t Most, const char *To, uint64_t Count, void *Size) {
  KeepErrno Keep;
  uint8_t Room[Source::FileBytesMax];
  clearLabels((uint64_t)To, Count + 1);
  if (Size)
    clearLabels((uint64_t)Size, 8);
  if (!Before.isKnown())
    return;
  const Source From = Before.source(Room);
  Before.noteRead(From);
  TableLock Lock;
  if (!Lock)
    return;
  Place At = Call.at(0);
  const uint64_t Start = Skips ? skipSpace(From, 0, At) : 0;
  if (!Size)
    Count = countWord(From, Start, E, Most);
  uint64_t I = 0;
  // Far ends first: they leave room for the words before them.
  for (uint64_t K = Count < Source::FileBytesMax ? Count : 0; K-- > 0;)
    if (From.isKnown(Start + K))
      recordGoal(memberBit(From.operand(Start + K), endsWord, &E, At),
                 {At.site, (uint16_t)(At.ordinal + K)});
  for (; I < Count && From.isKnown(Start + I); ++I)
    recordShape(memberBit(From.operand(Start + I), endsWord, &E, At), At);
  const bool Whole = I == Count && Count < Most;
  if (Whole && From.isKnown(Start + I))
    recordShape(memberBit(From.operand(Start + I), endsWord, &E, At), At);
  labelWord(From, Start, I, To, cutsWord, &E);
  if (!Whole) {
    clearLabels((uint64_t)To + I, 1);
    return;
  }
  Operand Length = wordSize(From, Start, Count, Most, E, At);
  if (Size && Length.value == Count)
    storeLabel((uint64_t)Size, 8, Length.label);
}

// What ends a line is looked for as it is in this run.
void delimiterFixed(const ModelCall &Call, const Ending &E) {
  KeepErrno Keep;
  TableLock Lock;
  if (Lock && !E.atSpace)
    recordFact(Call.argument(2, E.delimiter), Call.at(0));
}

struct StringLayout {
  const char *data;
  uint64_t size;
};

void stringRead(const ModelCall &Call, const StreamText &Before, bool Skips, const Ending &E,
                void *String) {
  auto *S = (StringLayout *)String;
  const uint64_t Most = E.atSpace ? Before.wordMost(UINT64_MAX) : UINT64_MAX;
  wordRead(Call, Before, Skips, E, Most, S->data, S->size, &S->size);
}

} // namespace

#define SF_STREAM_NUMBER(name, type, is_signed)                                                    \
  SF_STREAM_TAKES(name, type, numberRead(Call, Before, {To, 8 * sizeof(type), is_signed}))
SF_STREAM_NUMBER(_ZNSirsERs, short, true)
SF_STREAM_NUMBER(_ZNSirsERt, unsigned short, false)
SF_STREAM_NUMBER(_ZNSirsERi, int, true)
SF_STREAM_NUMBER(_ZNSirsERj, unsigned, false)
SF_STREAM_NUMBER(_ZNSirsERl, long, true)
SF_STREAM_NUMBER(_ZNSirsERm, unsigned long, false)
SF_STREAM_NUMBER(_ZNSirsERx, long long, true)
SF_STREAM_NUMBER(_ZNSirsERy, unsigned long long, false)
SF_STREAM_NUMBER(_ZNSi10_M_extractItEERSiRT_, unsigned short, false)
SF_STREAM_NUMBER(_ZNSi10_M_extractIjEERSiRT_, unsigned, false)
SF_STREAM_NUMBER(_ZNSi10_M_extractIlEERSiRT_, long, true)
SF_STREAM_NUMBER(_ZNSi10_M_extractImEERSiRT_, unsigned long, false)
SF_STREAM_NUMBER(_ZNSi10_M_extractIxEERSiRT_, long long, true)
SF_STREAM_NUMBER(_ZNSi10_M_extractIyEERSiRT_, unsigned long long, false)

#define SF_STREAM_CHARACTER(name, skips)                                                           \
  SF_STREAM_TAKES(name, char, characterRead(Call, Before, skips, To, nullptr))
SF_STREAM_CHARACTER(_ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_RS3_,
                    Before.skipsSpace())
SF_STREAM_CHARACTER(_ZNSi3getERc, false)

#define SF_STREAM_GET(name)                                                                        \
  SF_STREAM_REAL(int, name, (void *))                                                              \
  SF_MODEL_API int __sf_model_##name(void *Stream) {                                               \
    if (!G.recording)                                                                              \
      return real##name(Stream);                                                                   \
    const StreamText Before(Stream);                                                               \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    int Result = real##name(Stream);                                                               \
    Operand Byte = constant(0);                                                                    \
    characterRead(Call, Before, false, nullptr, &Byte);                                            \
    Before.finish();                                                                               \
    TableLock Lock;                                                                                \
    if (Lock && Byte.value == (uint32_t)Result)                                                    \
      Call.returns(zext(Byte, 8, 32).label);                                                       \
    return Result;                                                                                 \
  }
SF_STREAM_GET(_ZNSi3getEv)
SF_STREAM_GET(_ZNSi4peekEv)

#define SF_STREAM_STRING(name, parameters, arguments, skips, ending)                               \
  SF_STREAM_REAL(void *, name, parameters)                                                         \
  SF_MODEL_API void *__sf_model_##name parameters {                                                \
    if (!G.recording)                                                                              \
      return real##name arguments;                                                                 \
    const StreamText Before(Stream);                                                               \
    ModelCall Call((const void *)__sf_model_##name, 3);                                            \
    const Ending E = ending;                                                                       \
    delimiterFixed(Call, E);                                                                       \
    void *Result = real##name arguments;                                                           \
    stringRead(Call, Before, skips, E, To);                                                        \
    Before.finish();                                                                               \
    return Result;                                                                                 \
  }
#define SF_AT_SPACE {true, 0}
#define SF_AT_LINE {false, '\n'}
#define SF_AT_DELIMITER {false, (uint8_t)Delimiter}
SF_STREAM_STRING(
    _ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE,
    (void *Stream, void *To), (Stream, To), Before.skipsSpace(), SF_AT_SPACE)
SF_STREAM_STRING(
    _ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE,
    (void *Stream, void *To), (Stream, To), false, SF_AT_LINE)
SF_STREAM_STRING(
    _ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EES4_,
    (void *Stream, void *To, char Delimiter), (Stream, To, Delimiter), false, SF_AT_DELIMITER)

SF_STREAM_REAL(void *, _ZNSi7getlineEPcl, (void *, char *, int64_t))
SF_MODEL_API void *__sf_model__ZNSi7getlineEPcl(void *Stream, char *To, int64_t Room) {
  if (!G.recording)
    return real_ZNSi7getlineEPcl(Stream, To, Room);
  const StreamText Before(Stream);
  ModelCall Call((const void *)__sf_model__ZNSi7getlineEPcl, 0);
  void *Result = real_ZNSi7getlineEPcl(Stream, To, Room);
  if (Room > 0)
    wordRead(Call, Before, false, SF_AT_LINE, (uint64_t)Room - 1, To, strlen(To), nullptr);
  Before.finish();
  return Result;
}

SF_STREAM_REAL(void, _ZSt17__istream_extractRSiPcl, (void *, char *, int64_t))
SF_MODEL_API void __sf_model__ZSt17__istream_extractRSiPcl(void *Stream, char *To, int64_t Room) {
  const StreamText Before(Stream);
  real_ZSt17__istream_extractRSiPcl(Stream, To, Room);
  if (!G.recording)
    return;
  ModelCall Call((const void *)__sf_model__ZSt17__istream_extractRSiPcl, 0);
  if (Room > 0)
    wordRead(Call, Before, Before.skipsSpace(), SF_AT_SPACE, Before.wordMost((uint64_t)Room) - 1,
             To, strlen(To), nullptr);
  Before.finish();
}
