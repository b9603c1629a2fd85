// Models of searches in memory and strings, and of their lengths.
#include "models_string.h"

#include <string.h>

using namespace sf;

void sf::scanned(const ModelCall &Call, const void *At, uint64_t Found, uint64_t Size,
                 Operand Wanted, unsigned Flags) {
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

void sf::scannedToNul(const ModelCall &Call, const char *S, uint64_t Length) {
  scanned(Call, S, Length, Length + 1, constant(0), 0);
}

namespace {

constexpr uint64_t MatchPositionsMax = 256;

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

} // namespace

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
