// Models of functions that copy strings and join them.
#include "models_string.h"

#include <stdlib.h>
#include <string.h>

using namespace sf;

namespace {

void copiedString(const ModelCall &Call, const void *To, const char *From, uint64_t Length,
                  uint64_t Size) {
  scannedToNul(Call, From, Length < Size ? Length : Size);
  TableLock Lock;
  if (Lock)
    copyLabels((uint64_t)To, (uint64_t)From, Size);
}

void copiedBounded(const ModelCall &Call, char *To, const char *From, size_t Size) {
  uint64_t Length = strnlen(From, Size);
  scanned(Call, From, Length, Size, constant(0), 0);
  TableLock Lock;
  if (Lock)
    copyLabels((uint64_t)To, (uint64_t)From, Length < Size ? Length + 1 : Size);
  if (Length < Size)
    clearLabels((uint64_t)To + Length + 1, Size - Length - 1);
}

} // namespace

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
