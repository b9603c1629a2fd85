// Models of functions on wide characters and their strings.
#include "input.h"
#include "model.h"
#include "number.h"
#include "shadow.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

using namespace sf;

namespace {

constexpr uint64_t WideMax = 1u << 12;

Operand wideAt(const wchar_t *At) { return loadOperand((uint64_t)At, 4, (uint32_t)*At); }

Operand wideEqual(Operand A, Operand B) { return compare(SF_OP_EQ, 32, A, B); }

// All of the string B, up to its NUL, at A; from Start on it is not so now. Reads
// A only as far as it is a string, and then where there is memory.
Operand wholeWide(const wchar_t *A, const wchar_t *B, uint64_t Start, uint64_t Size,
                  bool EndsInNul) {
  Operand All = constant(1);
  for (uint64_t I = 0; I < Size && I < WideMax; ++I) {
    if (I > Start && (!isReadable((uint64_t)(A + I)) || !isReadable((uint64_t)(B + I))))
      return constant(0);
    All = allOf(All, wideEqual(wideAt(A + I), wideAt(B + I)));
    if ((!All.label && !All.value) || (EndsInNul && !B[I]))
      break;
  }
  return All;
}

Label wideCompared(const ModelCall &Call, const wchar_t *A, const wchar_t *B, uint64_t Size,
                   bool EndsInNul, int Result) {
  uint64_t First = 0;
  while (First < Size && A[First] == B[First] && !(EndsInNul && !A[First]))
    ++First;
  const bool Differs = First < Size && A[First] != B[First];
  if (Differs) {
    const bool ConstantB = !wideAt(B + First).label;
    recordGoal(ConstantB ? wholeWide(A, B, First, Size, EndsInNul)
                         : wholeWide(B, A, First, Size, EndsInNul),
               {Call.site, 0});
  }
  for (uint64_t I = 0; I <= First && I < Size && I < WideMax; ++I) {
    Operand X = wideAt(A + I), Y = wideAt(B + I);
    recordBranch(wideEqual(X, Y), Call.at(2 * I));
    if (EndsInNul && X.value == Y.value)
      recordBranch(wideEqual(X, constant(0)), Call.at(2 * I + 1));
  }
  if (!Differs)
    return 0;
  Operand Less = compare(SF_OP_SLT, 32, wideAt(A + First), wideAt(B + First));
  const uint64_t Other = (uint32_t)-Result, Same = (uint32_t)Result;
  return ite(Less, 32, constant(Less.value ? Same : Other), constant(Less.value ? Other : Same))
      .label;
}

// A scan that ended at Found because of Wanted, or of a NUL if those end it.
void wideScanned(const ModelCall &Call, const wchar_t *At, uint64_t Found, uint64_t Size,
                 Operand Wanted, bool EndsInNul) {
  KeepErrno Keep;
  TableLock Lock;
  for (uint64_t I = 0; Lock && I <= Found && I < Size && I < WideMax; ++I) {
    Operand X = wideAt(At + I);
    recordBranch(wideEqual(X, Wanted), Call.at(2 * I));
    if (EndsInNul)
      recordBranch(wideEqual(X, constant(0)), Call.at(2 * I + 1));
  }
}

void wideCopied(const ModelCall &Call, const wchar_t *To, const wchar_t *From, uint64_t Length) {
  wideScanned(Call, From, Length, Length + 1, constant(0), false);
  TableLock Lock;
  if (Lock)
    copyLabels((uint64_t)To, (uint64_t)From, 4 * (Length + 1));
}

// A function of one character of the portable set; of others it is made concrete.
Operand ofAscii(const ModelCall &Call, Operand C, uint64_t (*Map)(uint64_t, const void *)) {
  if (!C.label)
    return constant(Map(C.value, nullptr));
  if (meta(C.label).dependence < DependsOnMany)
    return mapThroughTable(C, 32, Map, nullptr);
  Operand Portable = compare(SF_OP_ULT, 32, C, constant(128));
  recordBranch(Portable, Call.at(0));
  Operand Low = extract(C, 32, 0, 8);
  if (Portable.value && Low.label && meta(Low.label).dependence < DependsOnMany)
    return mapThroughTable(Low, 32, Map, nullptr);
  recordFact(C, Call.at(1));
  return constant(Map(C.value, nullptr));
}

// A byte that became a wide character by itself.
void widened(const ModelCall &Call, const char *From, wchar_t *To, int64_t Taken) {
  KeepErrno Keep;
  TableLock Lock;
  if (!Lock || Taken > 1)
    return;
  Operand Byte = byteAt(From);
  recordBranch(compare(SF_OP_ULT, 8, Byte, constant(128)), Call.at(0));
  recordBranch(compare(SF_OP_EQ, 8, Byte, constant(0)), Call.at(1));
  if (To && Taken >= 0)
    storeLabel((uint64_t)To, 4, live(zext(Byte, 8, 32).label, (uint32_t)*To));
}

// The number at the start of a wide text: of the lowest bytes, where the others
// are zero.
bool narrowed(const ModelCall &Call, const wchar_t *From, Text &Out) {
  for (uint64_t I = 0; Out.count < TextBytesMax; ++I) {
    if (((uint64_t)(From + I) & 4095) < 4 && !isReadable((uint64_t)(From + I)))
      break;
    Operand Wide = wideAt(From + I);
    Operand Portable = compare(SF_OP_ULT, 32, Wide, constant(128));
    recordFact(Portable, Call.at(8));
    if (!Portable.value) {
      Out.add(constant(0xff));
      return true;
    }
    Out.add(extract(Wide, 32, 0, 8));
    if (!Wide.label && !Wide.value)
      return true;
  }
  Out.cut = true;
  return true;
}

template <typename T>
void wideParsed(ModelCall &Call, const wchar_t *From, wchar_t **End, int Base, T Result) {
  KeepErrno Keep;
  TableLock Lock;
  if (End)
    clearLabels((uint64_t)End, sizeof(*End));
  if (!Lock || Base < 0 || Base == 1 || Base > 36)
    return;
  Text Narrow;
  NumberForm Form;
  Form.base = (unsigned)Base;
  Form.range = (T)-1 < 0 ? NumberRange::Signed : NumberRange::Unsigned;
  ParsedNumber Number;
  if (!narrowed(Call, From, Narrow) || !parseNumber(Narrow, Form, Call.at(3), Number))
    return;
  recordGoal(Number.isNumber, Call.at(0));
  recordGoal(Number.negative, Call.at(1));
  recordGoal(Number.over, Call.at(2));
  Call.returns(live(Number.value.label, (uint64_t)Result));
  if (End)
    recordFact(Number.end, Call.at(4));
}

} // namespace

SF_MODEL_API size_t __sf_model_wcslen(const wchar_t *S) {
  size_t Length = wcslen(S);
  if (!G.recording)
    return Length;
  ModelCall Call((const void *)__sf_model_wcslen, 0);
  wideScanned(Call, S, Length, Length + 1, constant(0), false);
  return Length;
}

SF_MODEL_API size_t __sf_model_wcsnlen(const wchar_t *S, size_t Size) {
  size_t Length = wcsnlen(S, Size);
  if (!G.recording)
    return Length;
  ModelCall Call((const void *)__sf_model_wcsnlen, 0);
  wideScanned(Call, S, Length, Size, constant(0), false);
  return Length;
}

#define SF_WIDE_COMPARE(name, parameters, arguments, size, ends)                                   \
  SF_MODEL_API int __sf_model_##name parameters {                                                  \
    int Result = name arguments;                                                                   \
    if (!G.recording)                                                                              \
      return Result;                                                                               \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    KeepErrno Keep;                                                                                \
    TableLock Lock;                                                                                \
    if (Lock)                                                                                      \
      Call.returns(wideCompared(Call, A, B, size, ends, Result));                                  \
    return Result;                                                                                 \
  }
SF_WIDE_COMPARE(wcscmp, (const wchar_t *A, const wchar_t *B), (A, B), UINT64_MAX, true)
SF_WIDE_COMPARE(wcsncmp, (const wchar_t *A, const wchar_t *B, size_t Size), (A, B, Size), Size,
                true)
SF_WIDE_COMPARE(wmemcmp, (const wchar_t *A, const wchar_t *B, size_t Size), (A, B, Size), Size,
                false)

SF_MODEL_API wchar_t *__sf_model_wcschr(const wchar_t *S, wchar_t C) {
  wchar_t *Found = wcschr((wchar_t *)S, C);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_wcschr, 2);
  const uint64_t Where = Found ? (uint64_t)(Found - S) : wcslen(S);
  wideScanned(Call, S, Where, Where + 1, Call.argument(1, (uint32_t)C), true);
  return Found;
}

SF_MODEL_API wchar_t *__sf_model_wcsrchr(const wchar_t *S, wchar_t C) {
  wchar_t *Found = wcsrchr((wchar_t *)S, C);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_wcsrchr, 2);
  const uint64_t Length = wcslen(S);
  wideScanned(Call, S, Length, Length + 1, Call.argument(1, (uint32_t)C), true);
  return Found;
}

SF_MODEL_API wchar_t *__sf_model_wmemchr(const wchar_t *S, wchar_t C, size_t Size) {
  wchar_t *Found = wmemchr((wchar_t *)S, C, Size);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_wmemchr, 2);
  wideScanned(Call, S, Found ? (uint64_t)(Found - S) : Size, Size, Call.argument(1, (uint32_t)C),
              false);
  return Found;
}

SF_MODEL_API wchar_t *__sf_model_wcsstr(const wchar_t *S, const wchar_t *Needle) {
  wchar_t *Found = wcsstr((wchar_t *)S, Needle);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_wcsstr, 0);
  KeepErrno Keep;
  TableLock Lock;
  const uint64_t Length = wcslen(S), Size = wcslen(Needle);
  for (uint64_t P = 0; Lock && Size && P + Size <= Length && P < WideMax; ++P) {
    Operand Match = constant(1);
    for (uint64_t I = 0; I < Size; ++I)
      Match = allOf(Match, wideEqual(wideAt(S + P + I), wideAt(Needle + I)));
    recordBranch(Match, Call.at(P));
    if (S + P == Found)
      break;
  }
  return Found;
}

SF_MODEL_API wchar_t *__sf_model_wcscpy(wchar_t *To, const wchar_t *From) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_wcscpy, 0);
    wideCopied(Call, To, From, wcslen(From));
  }
  return wcscpy(To, From);
}

SF_MODEL_API wchar_t *__sf_model_wcscat(wchar_t *To, const wchar_t *From) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_wcscat, 0);
    const uint64_t Start = wcslen(To);
    wideScanned(Call, To, Start, Start + 1, constant(0), false);
    wideCopied(Call, To + Start, From, wcslen(From));
  }
  return wcscat(To, From);
}

SF_MODEL_API wchar_t *__sf_model_wcsncpy(wchar_t *To, const wchar_t *From, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_wcsncpy, 0);
    const uint64_t Length = wcsnlen(From, Size);
    wideScanned(Call, From, Length, Size, constant(0), false);
    TableLock Lock;
    if (Lock)
      copyLabels((uint64_t)To, (uint64_t)From, 4 * Length);
    clearLabels((uint64_t)(To + Length), 4 * (Size - Length));
  }
  return wcsncpy(To, From, Size);
}

#define SF_WIDE_COPY(name)                                                                         \
  SF_MODEL_API wchar_t *__sf_model_##name(wchar_t *To, const wchar_t *From, size_t Size) {         \
    if (G.recording) {                                                                             \
      ModelCall Call((const void *)__sf_model_##name, 0);                                          \
      TableLock Lock;                                                                              \
      if (Lock)                                                                                    \
        copyLabels((uint64_t)To, (uint64_t)From, 4 * Size);                                        \
    }                                                                                              \
    return name(To, From, Size);                                                                   \
  }
SF_WIDE_COPY(wmemcpy)
SF_WIDE_COPY(wmemmove)

#define SF_WIDE_CLASS(name, type)                                                                  \
  static uint64_t map_##name(uint64_t C, const void *) {                                           \
    return (uint32_t)name((wint_t)(uint32_t)C);                                                    \
  }                                                                                                \
  SF_MODEL_API type __sf_model_##name(wint_t C) {                                                  \
    type Result = name(C);                                                                         \
    if (!G.recording)                                                                              \
      return Result;                                                                               \
    ModelCall Call((const void *)__sf_model_##name, 1);                                            \
    KeepErrno Keep;                                                                                \
    TableLock Lock;                                                                                \
    if (Lock)                                                                                      \
      Call.returns(live(ofAscii(Call, Call.argument(0, C), map_##name).label, (uint32_t)Result));  \
    return Result;                                                                                 \
  }
SF_WIDE_CLASS(towlower, wint_t)
SF_WIDE_CLASS(towupper, wint_t)
SF_WIDE_CLASS(iswalnum, int)
SF_WIDE_CLASS(iswalpha, int)
SF_WIDE_CLASS(iswblank, int)
SF_WIDE_CLASS(iswcntrl, int)
SF_WIDE_CLASS(iswdigit, int)
SF_WIDE_CLASS(iswgraph, int)
SF_WIDE_CLASS(iswlower, int)
SF_WIDE_CLASS(iswprint, int)
SF_WIDE_CLASS(iswpunct, int)
SF_WIDE_CLASS(iswspace, int)
SF_WIDE_CLASS(iswupper, int)
SF_WIDE_CLASS(iswxdigit, int)

SF_MODEL_API int __sf_model_mbtowc(wchar_t *To, const char *From, size_t Size) {
  int Taken = mbtowc(To, From, Size);
  if (G.recording && From && Size) {
    ModelCall Call((const void *)__sf_model_mbtowc, 0);
    if (To && Taken >= 0)
      clearLabels((uint64_t)To, 4);
    widened(Call, From, To, Taken);
  }
  return Taken;
}

SF_MODEL_API size_t __sf_model_mbrtowc(wchar_t *To, const char *From, size_t Size,
                                       mbstate_t *State) {
  const bool Initial = !State || mbsinit(State);
  size_t Taken = mbrtowc(To, From, Size, State);
  if (G.recording && From && Size) {
    ModelCall Call((const void *)__sf_model_mbrtowc, 0);
    if (To && (int64_t)Taken >= 0)
      clearLabels((uint64_t)To, 4);
    if (Initial)
      widened(Call, From, To, (int64_t)Taken);
  }
  return Taken;
}

SF_MODEL_API size_t __sf_model_mbstowcs(wchar_t *To, const char *From, size_t Size) {
  size_t Count = mbstowcs(To, From, Size);
  if (!G.recording || Count == (size_t)-1)
    return Count;
  ModelCall Call((const void *)__sf_model_mbstowcs, 0);
  KeepErrno Keep;
  TableLock Lock;
  if (To)
    clearLabels((uint64_t)To, 4 * (Count < Size ? Count + 1 : Count));
  for (uint64_t I = 0; Lock && I <= Count && (!To || I < Size) && I < WideMax; ++I) {
    Operand Byte = byteAt(From + I);
    if (Byte.value >= 128)
      break; // more than one byte makes a character here
    recordBranch(compare(SF_OP_ULT, 8, Byte, constant(128)), Call.at(2 * I));
    recordBranch(compare(SF_OP_EQ, 8, Byte, constant(0)), Call.at(2 * I + 1));
    if (To)
      storeLabel((uint64_t)(To + I), 4, live(zext(Byte, 8, 32).label, (uint32_t)To[I]));
  }
  return Count;
}

#define SF_WIDE_CHARACTER(name, parameters, stream, arguments)                                     \
  SF_MODEL_API wint_t __sf_model_##name parameters {                                               \
    beginAt(stream);                                                                               \
    wint_t C = name arguments;                                                                     \
    if (!G.recording)                                                                              \
      return C;                                                                                    \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    KeepErrno Keep;                                                                                \
    const off_t After = isInputStream(stream) ? ftello(stream) : -1;                               \
    if (C == WEOF || C >= 128 || After <= 0)                                                       \
      return C;                                                                                    \
    uint8_t Room[Source::FileBytesMax];                                                            \
    const Source From = Source::file(fileno(stream), (uint64_t)After - 1, Room);                   \
    __atomic_fetch_add(&G.header->symbolic_bytes, 1, __ATOMIC_RELAXED);                            \
    TableLock Lock;                                                                                \
    if (!Lock || !From.isKnown(0) || From.byte(0) != C)                                            \
      return C;                                                                                    \
    recordBranch(compare(SF_OP_ULT, 8, From.operand(0), constant(128)), Call.at(0));               \
    Call.returns(zext(From.operand(0), 8, 32).label);                                              \
    return C;                                                                                      \
  }
SF_WIDE_CHARACTER(fgetwc, (FILE * Stream), Stream, (Stream))
SF_WIDE_CHARACTER(getwc, (FILE * Stream), Stream, (Stream))
SF_WIDE_CHARACTER(getwchar, (), stdin, ())

// By these names, which mean the same in every C library.
#define SF_WIDE_PARSE(type, name)                                                                  \
  extern "C" type real_##name(const wchar_t *, wchar_t **, int) asm(#name);                        \
  SF_MODEL_API type __sf_model_##name(const wchar_t *S, wchar_t **End, int Base) {                 \
    type Result = real_##name(S, End, Base);                                                       \
    if (!G.recording)                                                                              \
      return Result;                                                                               \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    wideParsed(Call, S, End, Base, Result);                                                        \
    return Result;                                                                                 \
  }
SF_WIDE_PARSE(long, wcstol)
SF_WIDE_PARSE(long long, wcstoll)
SF_WIDE_PARSE(unsigned long, wcstoul)
SF_WIDE_PARSE(unsigned long long, wcstoull)
