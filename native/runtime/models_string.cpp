// Models of comparisons and searches in memory and strings.
//
// A comparison is what the C standard says: it looks at bytes until the first
// difference. Each byte looked at is a branch; that everything is equal is one
// goal more, so that a magic string is one step away and not one for each byte.
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

using namespace sf;

namespace {

enum CompareFlags : unsigned { StopAtNul = 1, FoldCase = 2 };

constexpr uint64_t GoalBytesMax = 1u << 12;
constexpr uint64_t EventBytesMax = 1u << 16;
constexpr uint64_t MatchPositionsMax = 256;

uint8_t lower(uint8_t C) { return C >= 'A' && C <= 'Z' ? C | 0x20 : C; }

Operand lower(Operand A) {
  Operand Offset = binary(SF_OP_SUB, 8, A, constant('A'));
  return ite(compare(SF_OP_ULT, 8, Offset, constant(26)), 8, binary(SF_OP_OR, 8, A, constant(0x20)),
             A);
}

// Two byte ranges under comparison.
class Comparison {
public:
  Comparison(const void *A, const void *B, uint64_t Size, unsigned Flags)
      : A((const uint8_t *)A), B((const uint8_t *)B), Size(Size), Flags(Flags) {
    while (First < Size && fold(this->A[First]) == fold(this->B[First])) {
      if (Flags & StopAtNul && this->A[First] == 0)
        break;
      ++First;
    }
  }

  // Label of the result, when the real function gave Result.
  Label record(const ModelCall &Call, int Result) {
    const bool Differs = First < Size && fold(A[First]) != fold(B[First]);
    if (Differs) {
      const Operand Equal = everythingEqual();
      recordGoal(Equal.label ? Equal : wordContinued(), {Call.site, 0});
    }
    uint64_t End = First < Size ? First + 1 : Size;
    if (End > EventBytesMax)
      End = EventBytesMax;
    for (uint64_t I = 0; I < End; ++I) {
      Operand X = byte(A, I), Y = byte(B, I);
      recordBranch(compare(SF_OP_EQ, 8, X, Y), Call.at(2 * I));
      if (Flags & StopAtNul && X.value == Y.value && X.label && Y.label)
        recordBranch(compare(SF_OP_EQ, 8, X, constant(0)), Call.at(2 * I + 1));
    }
    return Differs ? order(Result) : 0;
  }

private:
  uint8_t fold(uint8_t C) const { return Flags & FoldCase ? lower(C) : C; }

  Operand byte(const uint8_t *At, uint64_t I) const {
    Operand X = byteAt(At + I);
    return Flags & FoldCase ? lower(X) : X;
  }

  // Where the comparison would end if all were equal: behind the NUL of the
  // string that is not symbolic at the first difference.
  uint64_t wholeSize() {
    if (!(Flags & StopAtNul))
      return Size;
    bool ConcreteB = !byteAt(B + First).label;
    if (!ConcreteB && byteAt(A + First).label)
      return 0;
    const uint8_t *Pattern = ConcreteB ? B : A;
    uint64_t I = First;
    while (I < Size && I <= GoalBytesMax && isPresent(Pattern, I) && Pattern[I])
      ++I;
    return I < Size ? I + 1 : Size;
  }

  // Bytes behind the first difference may be outside of an object: they are
  // read only where there is memory.
  bool isPresent(const uint8_t *Side, uint64_t I) {
    uint64_t &Known = Side == A ? KnownPageA : KnownPageB;
    const uint64_t Page = (uint64_t)(Side + I) >> 12;
    if (I > First && Page != Known && !isReadable((uint64_t)(Side + I)))
      return false;
    Known = Page;
    return true;
  }

  Operand everythingEqual() {
    const uint64_t Whole = wholeSize();
    if (Whole == 0 || Whole > GoalBytesMax)
      return constant(0);
    Operand All = constant(1);
    for (uint64_t I = 0; I < Whole;) {
      Operand X[8], Y[8];
      unsigned Count = 0;
      for (; Count < 8 && I < Whole; ++I) {
        if (!isPresent(A, I) || !isPresent(B, I))
          return constant(0);
        Operand P = byte(A, I), Q = byte(B, I);
        if (!P.label && !Q.label) {
          if (P.value != Q.value)
            return constant(0);
          ++I;
          break;
        }
        X[Count] = P;
        Y[Count++] = Q;
      }
      if (Count)
        All = binary(SF_OP_AND, 1, All,
                     compare(SF_OP_EQ, 8 * Count, joinBytes(X, Count), joinBytes(Y, Count)));
    }
    return All;
  }

  // A word that was copied out of the input and is shorter than the constant it is
  // compared with: that it goes on where it came from, as the constant does. What
  // ends it there is left to whoever took it out. (The optimiser makes comparisons of
  // memory of those of strings.)
  Operand wordContinued() {
    uint64_t End = First;
    while (End < Size && End < GoalBytesMax && isPresent(A, End) && isPresent(B, End) && A[End] &&
           B[End])
      ++End;
    if (End >= Size || !isPresent(A, End) || !isPresent(B, End) || !A[End] == !B[End])
      return constant(0);
    const uint8_t *Word = A[End] ? B : A, *Pattern = A[End] ? A : B;
    uint64_t Source = sourceOfEnd(Word, End);
    Operand All = constant(1);
    for (uint64_t I = 0; I < Size && I < GoalBytesMax && isPresent(Pattern, I) && Pattern[I]; ++I) {
      Operand Here = I < End ? byteAt(Word + I) : inputByteRead(Source + I - End);
      if (byteAt(Pattern + I).label || (I >= End && !Here.label))
        return constant(0);
      Here = Flags & FoldCase ? lower(Here) : Here;
      All = binary(SF_OP_AND, 1, All, compare(SF_OP_EQ, 8, Here, constant(fold(Pattern[I]))));
    }
    return All;
  }

  // The offset in the input of the byte that ended the word; none is there if it is not known.
  uint64_t sourceOfEnd(const uint8_t *Word, uint64_t End) const {
    auto OffsetOf = [](const uint8_t *At) -> uint64_t {
      const Label L = byteAt(At).label;
      return L ? meta(L).dependence : DependsOnNothing;
    };
    uint64_t Source = OffsetOf(Word + End);
    if (Source >= DependsOnMany && End > 0)
      Source = OffsetOf(Word + End - 1) + 1;
    return Source;
  }

  // The sign of the result depends on the first two bytes that differ.
  Label order(int Result) const {
    Operand X = byte(A, First), Y = byte(B, First);
    Operand Difference = binary(SF_OP_SUB, 32, zext(X, 8, 32), zext(Y, 8, 32));
    if (Difference.value == (uint32_t)Result)
      return Difference.label;
    Operand Less = compare(SF_OP_ULT, 8, X, Y);
    return ite(Less, 32, constant((uint32_t)(Less.value ? Result : -Result)),
               constant((uint32_t)(Less.value ? -Result : Result)))
        .label;
  }

  const uint8_t *A, *B;
  uint64_t Size, First = 0, KnownPageA = ~0ull, KnownPageB = ~0ull;
  unsigned Flags;
};

int compareModel(ModelCall &Call, const void *A, const void *B, uint64_t Size, unsigned Flags,
                 int Result) {
  KeepErrno Keep;
  TableLock Lock;
  if (Lock)
    Call.returns(Comparison(A, B, Size, Flags).record(Call, Result));
  return Result;
}

// A scan over bytes that ended at Found (Size if it found nothing) because of
// a byte equal to Wanted; with StopAtNul a NUL ends it too.
void scanned(const ModelCall &Call, const void *At, uint64_t Found, uint64_t Size, Operand Wanted,
             unsigned Flags) {
  KeepErrno Keep;
  TableLock Lock;
  uint64_t End = Found < Size ? Found + 1 : Size;
  if (End > EventBytesMax)
    End = EventBytesMax;
  for (uint64_t I = 0; Lock && I < End; ++I) {
    Operand X = byteAt((const uint8_t *)At + I);
    if (!X.label && !Wanted.label)
      continue;
    recordBranch(compare(SF_OP_EQ, 8, X, Wanted), Call.at(2 * I));
    if (Flags & StopAtNul)
      recordBranch(compare(SF_OP_EQ, 8, X, constant(0)), Call.at(2 * I + 1));
  }
}

void scannedToNul(const ModelCall &Call, const char *S, uint64_t Length) {
  scanned(Call, S, Length, Length + 1, constant(0), 0);
}

Operand wantedByte(const ModelCall &Call, int C) {
  TableLock Lock;
  return Lock ? extract(Call.argument(1, (uint32_t)C), 32, 0, 8) : constant((uint8_t)C);
}

// A scan for a symbolic byte of bytes that are none: where it ends is a table
// of that byte, and nothing has to be decided. Digits are looked up like this.
struct Scan {
  const char *At;
  uint64_t Size; // up to where bytes may be looked at
};

bool foundThroughTable(ModelCall &Call, Scan Where, Operand Wanted,
                       uint64_t (*Find)(uint64_t Byte, const void *)) {
  constexpr uint64_t SizeMax = 4096;
  if (!Wanted.label || Where.Size > SizeMax || !isConcrete((uint64_t)Where.At, Where.Size))
    return false;
  KeepErrno Keep;
  TableLock Lock;
  if (!Lock)
    return false;
  Operand Found = mapThroughTable(Wanted, 64, Find, &Where);
  Call.returns(Found.label);
  return Found.label;
}

#define SF_FINDER(name, call)                                                                      \
  uint64_t name(uint64_t Byte, const void *Context) {                                              \
    const Scan &S = *(const Scan *)Context;                                                        \
    const int C = (int)Byte;                                                                       \
    return (uint64_t)(call);                                                                       \
  }
SF_FINDER(findFirst, strchr(S.At, C))
SF_FINDER(findFirstOrEnd, strchrnul(S.At, C))
SF_FINDER(findLast, strrchr(S.At, C))
SF_FINDER(findInMemory, memchr(S.At, C, S.Size))
#undef SF_FINDER

// A search for a needle: one branch for each position that was tried.
void searched(const ModelCall &Call, const uint8_t *Hay, uint64_t HaySize, const uint8_t *Needle,
              uint64_t NeedleSize, uint64_t Found, unsigned Flags = 0) {
  KeepErrno Keep;
  TableLock Lock;
  if (!Lock || !NeedleSize)
    return;
  for (uint64_t P = 0; P + NeedleSize <= HaySize && P < MatchPositionsMax; ++P) {
    Operand Match = constant(1);
    for (uint64_t I = 0; I < NeedleSize && (Match.label || Match.value);) {
      Operand X[8], Y[8];
      unsigned Count = 0;
      for (; Count < 8 && I < NeedleSize; ++I, ++Count) {
        X[Count] = byteAt(Hay + P + I);
        Y[Count] = byteAt(Needle + I);
        if (Flags & FoldCase) {
          X[Count] = lower(X[Count]);
          Y[Count] = lower(Y[Count]);
        }
      }
      Match = binary(SF_OP_AND, 1, Match,
                     compare(SF_OP_EQ, 8 * Count, joinBytes(X, Count), joinBytes(Y, Count)));
    }
    recordBranch(Match, Call.at(P));
    if (P == Found)
      return;
  }
}

uint64_t inSet(uint64_t Byte, const void *Set) {
  return Byte && strchr((const char *)Set, (int)Byte) ? 1 : 0;
}

// strspn and its relatives: each byte before Stop was or was not in the set.
void spanned(const ModelCall &Call, const char *S, const char *Set, uint64_t Stop) {
  KeepErrno Keep;
  TableLock Lock;
  for (uint64_t I = 0; Lock && I <= Stop; ++I) {
    Operand X = byteAt(S + I);
    if (!X.label)
      continue;
    Operand Member = mapThroughTable(X, 8, inSet, Set);
    recordBranch(compare(SF_OP_NE, 8, Member, constant(0)), Call.at(2 * I));
    recordBranch(compare(SF_OP_EQ, 8, X, constant(0)), Call.at(2 * I + 1));
  }
}

void copiedString(const ModelCall &Call, const void *To, const char *From, uint64_t Length,
                  uint64_t Size) {
  scannedToNul(Call, From, Length < Size ? Length : Size);
  TableLock Lock;
  if (Lock)
    copyLabels((uint64_t)To, (uint64_t)From, Size);
}

} // namespace

SF_MODEL_API int __sf_model_memcmp(const void *A, const void *B, size_t Size) {
  int Result = memcmp(A, B, Size);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_memcmp, 0);
  return compareModel(Call, A, B, Size, 0, Result);
}

SF_MODEL_API int __sf_model_bcmp(const void *A, const void *B, size_t Size) {
  int Result = memcmp(A, B, Size);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_bcmp, 0);
  return compareModel(Call, A, B, Size, 0, Result);
}

SF_MODEL_API int __sf_model_strcmp(const char *A, const char *B) {
  int Result = strcmp(A, B);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_strcmp, 0);
  return compareModel(Call, A, B, UINT64_MAX, StopAtNul, Result);
}

SF_MODEL_API int __sf_model_strncmp(const char *A, const char *B, size_t Size) {
  int Result = strncmp(A, B, Size);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_strncmp, 0);
  return compareModel(Call, A, B, Size, StopAtNul, Result);
}

SF_MODEL_API int __sf_model_strcasecmp(const char *A, const char *B) {
  int Result = strcasecmp(A, B);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_strcasecmp, 0);
  return compareModel(Call, A, B, UINT64_MAX, StopAtNul | FoldCase, Result);
}

SF_MODEL_API int __sf_model_strncasecmp(const char *A, const char *B, size_t Size) {
  int Result = strncasecmp(A, B, Size);
  if (!G.recording)
    return Result;
  ModelCall Call((const void *)__sf_model_strncasecmp, 0);
  return compareModel(Call, A, B, Size, StopAtNul | FoldCase, Result);
}

SF_MODEL_API void *__sf_model_memchr(const void *At, int C, size_t Size) {
  void *Found = memchr((void *)At, C, Size);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_memchr, 2);
  if (foundThroughTable(Call, {(const char *)At, Size}, wantedByte(Call, C), findInMemory))
    return Found;
  uint64_t Where = Found ? (uint64_t)((char *)Found - (const char *)At) : Size;
  scanned(Call, At, Where, Size, wantedByte(Call, C), 0);
  return Found;
}

SF_MODEL_API void *__sf_model_memrchr(const void *At, int C, size_t Size) {
  void *Found = memrchr((void *)At, C, Size);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_memrchr, 2);
  uint64_t From = Found ? (uint64_t)((char *)Found - (const char *)At) : 0;
  scanned(Call, (const char *)At + From, Size - From, Size - From, wantedByte(Call, C), 0);
  return Found;
}

SF_MODEL_API void *__sf_model_rawmemchr(const void *At, int C) {
  void *Found = rawmemchr((void *)At, C);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_rawmemchr, 2);
  uint64_t Where = (uint64_t)((char *)Found - (const char *)At);
  scanned(Call, At, Where, Where + 1, wantedByte(Call, C), 0);
  return Found;
}

SF_MODEL_API void *__sf_model_memmem(const void *Hay, size_t HaySize, const void *Needle,
                                     size_t NeedleSize) {
  void *Found = memmem(Hay, HaySize, Needle, NeedleSize);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_memmem, 0);
  searched(Call, (const uint8_t *)Hay, HaySize, (const uint8_t *)Needle, NeedleSize,
           Found ? (uint64_t)((char *)Found - (const char *)Hay) : UINT64_MAX);
  return Found;
}

SF_MODEL_API size_t __sf_model_strlen(const char *S) {
  size_t Length = strlen(S);
  if (!G.recording)
    return Length;
  ModelCall Call((const void *)__sf_model_strlen, 0);
  scannedToNul(Call, S, Length);
  return Length;
}

SF_MODEL_API size_t __sf_model_strnlen(const char *S, size_t Size) {
  size_t Length = strnlen(S, Size);
  if (!G.recording)
    return Length;
  ModelCall Call((const void *)__sf_model_strnlen, 0);
  scanned(Call, S, Length, Size, constant(0), 0);
  return Length;
}

SF_MODEL_API char *__sf_model_strchr(const char *S, int C) {
  char *Found = strchr((char *)S, C);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_strchr, 2);
  if (foundThroughTable(Call, {S, strlen(S) + 1}, wantedByte(Call, C), findFirst))
    return Found;
  uint64_t Where = Found ? (uint64_t)(Found - S) : strlen(S);
  scanned(Call, S, Where, Where + 1, wantedByte(Call, C), StopAtNul);
  return Found;
}

SF_MODEL_API char *__sf_model_index(const char *S, int C) {
  char *Found = strchr((char *)S, C);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_index, 2);
  if (foundThroughTable(Call, {S, strlen(S) + 1}, wantedByte(Call, C), findFirst))
    return Found;
  uint64_t Where = Found ? (uint64_t)(Found - S) : strlen(S);
  scanned(Call, S, Where, Where + 1, wantedByte(Call, C), StopAtNul);
  return Found;
}

SF_MODEL_API char *__sf_model_strchrnul(const char *S, int C) {
  char *Found = strchrnul((char *)S, C);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_strchrnul, 2);
  if (foundThroughTable(Call, {S, strlen(S) + 1}, wantedByte(Call, C), findFirstOrEnd))
    return Found;
  uint64_t Where = (uint64_t)(Found - S);
  scanned(Call, S, Where, Where + 1, wantedByte(Call, C), StopAtNul);
  return Found;
}

SF_MODEL_API char *__sf_model_strrchr(const char *S, int C) {
  char *Found = strrchr((char *)S, C);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_strrchr, 2);
  if (foundThroughTable(Call, {S, strlen(S) + 1}, wantedByte(Call, C), findLast))
    return Found;
  uint64_t Length = strlen(S);
  uint64_t From = Found ? (uint64_t)(Found - S) : 0;
  scannedToNul(Call, S, Length);
  scanned(Call, S + From, Length - From, Length - From, wantedByte(Call, C), 0);
  return Found;
}

SF_MODEL_API char *__sf_model_rindex(const char *S, int C) {
  char *Found = __sf_model_strrchr(S, C);
  return Found;
}

SF_MODEL_API char *__sf_model_strstr(const char *Hay, const char *Needle) {
  char *Found = strstr((char *)Hay, Needle);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_strstr, 0);
  searched(Call, (const uint8_t *)Hay, strlen(Hay), (const uint8_t *)Needle, strlen(Needle),
           Found ? (uint64_t)(Found - Hay) : UINT64_MAX);
  return Found;
}

SF_MODEL_API char *__sf_model_strcasestr(const char *Hay, const char *Needle) {
  char *Found = strcasestr((char *)Hay, Needle);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_strcasestr, 0);
  searched(Call, (const uint8_t *)Hay, strlen(Hay), (const uint8_t *)Needle, strlen(Needle),
           Found ? (uint64_t)(Found - Hay) : UINT64_MAX, FoldCase);
  return Found;
}

SF_MODEL_API size_t __sf_model_strspn(const char *S, const char *Set) {
  size_t Length = strspn(S, Set);
  if (!G.recording)
    return Length;
  ModelCall Call((const void *)__sf_model_strspn, 0);
  spanned(Call, S, Set, Length);
  return Length;
}

SF_MODEL_API size_t __sf_model_strcspn(const char *S, const char *Set) {
  size_t Length = strcspn(S, Set);
  if (!G.recording)
    return Length;
  ModelCall Call((const void *)__sf_model_strcspn, 0);
  spanned(Call, S, Set, Length);
  return Length;
}

SF_MODEL_API char *__sf_model_strpbrk(const char *S, const char *Set) {
  char *Found = strpbrk((char *)S, Set);
  if (!G.recording)
    return Found;
  ModelCall Call((const void *)__sf_model_strpbrk, 0);
  spanned(Call, S, Set, Found ? (uint64_t)(Found - S) : strlen(S));
  return Found;
}

SF_MODEL_API char *__sf_model_strcpy(char *To, const char *From) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_strcpy, 0);
    uint64_t Length = strlen(From);
    copiedString(Call, To, From, Length, Length + 1);
  }
  return strcpy(To, From);
}

SF_MODEL_API char *__sf_model_stpcpy(char *To, const char *From) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_stpcpy, 0);
    uint64_t Length = strlen(From);
    copiedString(Call, To, From, Length, Length + 1);
  }
  return stpcpy(To, From);
}

static void copiedBounded(const ModelCall &Call, char *To, const char *From, size_t Size) {
  uint64_t Length = strnlen(From, Size);
  scanned(Call, From, Length, Size, constant(0), 0);
  TableLock Lock;
  if (Lock)
    copyLabels((uint64_t)To, (uint64_t)From, Length < Size ? Length + 1 : Size);
  if (Length < Size)
    clearLabels((uint64_t)To + Length + 1, Size - Length - 1);
}

SF_MODEL_API char *__sf_model_strncpy(char *To, const char *From, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_strncpy, 0);
    copiedBounded(Call, To, From, Size);
  }
  return strncpy(To, From, Size);
}

SF_MODEL_API char *__sf_model_stpncpy(char *To, const char *From, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_stpncpy, 0);
    copiedBounded(Call, To, From, Size);
  }
  return stpncpy(To, From, Size);
}

SF_MODEL_API void *__sf_model_memccpy(void *To, const void *From, int C, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_memccpy, 3);
    const void *Found = memchr((void *)From, C, Size);
    uint64_t Where = Found ? (uint64_t)((const char *)Found - (const char *)From) : Size;
    Operand Wanted = constant((uint8_t)C);
    if (TableLock Lock; Lock)
      Wanted = extract(Call.argument(2, (uint32_t)C), 32, 0, 8);
    scanned(Call, From, Where, Size, Wanted, 0);
    TableLock Lock;
    if (Lock)
      copyLabels((uint64_t)To, (uint64_t)From, Found ? Where + 1 : Size);
  }
  return memccpy(To, From, C, Size);
}

// A program that calls these has a C library that has them.
extern "C" __attribute__((weak)) size_t real_strlcpy(char *, const char *, size_t) asm("strlcpy");
extern "C" __attribute__((weak)) size_t real_strlcat(char *, const char *, size_t) asm("strlcat");

SF_MODEL_API size_t __sf_model_strlcpy(char *To, const char *From, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_strlcpy, 0);
    uint64_t Length = strlen(From);
    scannedToNul(Call, From, Length);
    copiedString(Call, To, From, Length, !Size ? 0 : Length < Size ? Length + 1 : Size - 1);
    if (Size && Length >= Size)
      clearLabels((uint64_t)To + Size - 1, 1);
  }
  return real_strlcpy(To, From, Size);
}

SF_MODEL_API size_t __sf_model_strlcat(char *To, const char *From, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_strlcat, 0);
    uint64_t Start = strnlen(To, Size), Length = strlen(From), Room = Size - Start;
    scanned(Call, To, Start, Size, constant(0), 0);
    scannedToNul(Call, From, Length);
    copiedString(Call, To + Start, From, Length, !Room ? 0 : Length < Room ? Length + 1 : Room - 1);
    if (Room && Length >= Room)
      clearLabels((uint64_t)To + Size - 1, 1);
  }
  return real_strlcat(To, From, Size);
}

SF_MODEL_API char *__sf_model_strcat(char *To, const char *From) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_strcat, 0);
    uint64_t Start = strlen(To), Length = strlen(From);
    scannedToNul(Call, To, Start);
    copiedString(Call, To + Start, From, Length, Length + 1);
  }
  return strcat(To, From);
}

SF_MODEL_API char *__sf_model_strncat(char *To, const char *From, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_strncat, 0);
    uint64_t Start = strlen(To), Length = strnlen(From, Size);
    scannedToNul(Call, To, Start);
    scanned(Call, From, Length, Size, constant(0), 0);
    TableLock Lock;
    if (Lock)
      copyLabels((uint64_t)To + Start, (uint64_t)From, Length);
    clearLabels((uint64_t)To + Start + Length, 1);
  }
  return strncat(To, From, Size);
}

SF_MODEL_API char *__sf_model_strdup(const char *S) {
  char *Copy = strdup(S);
  if (G.recording && Copy) {
    ModelCall Call((const void *)__sf_model_strdup, 0);
    uint64_t Length = strlen(S);
    copiedString(Call, Copy, S, Length, Length + 1);
  }
  return Copy;
}

SF_MODEL_API char *__sf_model_strndup(const char *S, size_t Size) {
  char *Copy = strndup(S, Size);
  if (G.recording && Copy) {
    ModelCall Call((const void *)__sf_model_strndup, 0);
    uint64_t Length = strnlen(S, Size);
    scanned(Call, S, Length, Size, constant(0), 0);
    TableLock Lock;
    if (Lock)
      copyLabels((uint64_t)Copy, (uint64_t)S, Length);
    clearLabels((uint64_t)Copy + Length, 1);
  }
  return Copy;
}
