// Models of memory functions and of the allocator.
#include "addresses.h"
#include "model.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

using namespace sf;

namespace {

// Copies labels as the real function copied bytes.
void moved(const void *To, const void *From, uint64_t Size) {
  TableLock Lock;
  if (Lock)
    copyLabels((uint64_t)To, (uint64_t)From, Size);
}

// The same before it does, when the size may have a label.
void copied(const ModelCall &Call, const void *To, const void *From, uint64_t Size) {
  TableLock Lock;
  if (Lock && !copySized((uint64_t)To, (uint64_t)From, Call.argument(2, Size), Call.at(0)))
    copyLabels((uint64_t)To, (uint64_t)From, Size);
}

void filled(const ModelCall &Call, void *To, int Value, uint64_t Size) {
  TableLock Lock;
  if (!Lock)
    return;
  Operand Byte = extract(Call.argument(1, (uint32_t)Value), 32, 0, 8);
  if (fillSized((uint64_t)To, Byte, Call.argument(2, Size), Call.at(0)))
    return;
  clearLabels((uint64_t)To, Byte.label ? 0 : Size);
  for (uint64_t I = 0; Byte.label && I < Size; ++I)
    storeLabel((uint64_t)To + I, 1, Byte.label);
}

void *allocated(const ModelCall &Call, void *P, uint64_t Size, Operand Asked) {
  TableLock Lock;
  if (!Lock)
    return P;
  trySizes(Asked, Call.at(0));
  if (P) {
    clearLabels((uint64_t)P, Size);
    noteAllocation((uint64_t)P, Size);
  }
  return P;
}

} // namespace

SF_MODEL_API void *__sf_model_memcpy(void *To, const void *From, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_memcpy, 3);
    copied(Call, To, From, Size);
  }
  return memcpy(To, From, Size);
}

SF_MODEL_API void *__sf_model_memmove(void *To, const void *From, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_memmove, 3);
    copied(Call, To, From, Size);
  }
  return memmove(To, From, Size);
}

SF_MODEL_API void *__sf_model_mempcpy(void *To, const void *From, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_mempcpy, 3);
    copied(Call, To, From, Size);
  }
  return mempcpy(To, From, Size);
}

extern "C" void *__memcpy_chk(void *, const void *, size_t, size_t);
extern "C" void *__memmove_chk(void *, const void *, size_t, size_t);
extern "C" void *__memset_chk(void *, int, size_t, size_t);

SF_MODEL_API void *__sf_model___memcpy_chk(void *To, const void *From, size_t Size, size_t Room) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model___memcpy_chk, 3);
    copied(Call, To, From, Size);
  }
  return __memcpy_chk(To, From, Size, Room);
}

SF_MODEL_API void *__sf_model___memmove_chk(void *To, const void *From, size_t Size, size_t Room) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model___memmove_chk, 3);
    copied(Call, To, From, Size);
  }
  return __memmove_chk(To, From, Size, Room);
}

SF_MODEL_API void *__sf_model_memset(void *To, int Value, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_memset, 3);
    filled(Call, To, Value, Size);
  }
  return memset(To, Value, Size);
}

SF_MODEL_API void *__sf_model___memset_chk(void *To, int Value, size_t Size, size_t Room) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model___memset_chk, 3);
    filled(Call, To, Value, Size);
  }
  return __memset_chk(To, Value, Size, Room);
}

SF_MODEL_API void __sf_model_bzero(void *To, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_bzero, 0);
    clearLabels((uint64_t)To, Size);
  }
  bzero(To, Size);
}

SF_MODEL_API void __sf_model_bcopy(const void *From, void *To, size_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_bcopy, 0);
    moved(To, From, Size);
  }
  bcopy(From, To, Size);
}

// Backwards and pair by pair, as the real function does where the two overlap.
SF_MODEL_API void __sf_model_swab(const void *From, void *To, ssize_t Size) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_swab, 3);
    KeepErrno Keep;
    TableLock Lock;
    if (Lock)
      concretise(Call.argument(2, (uint64_t)Size), Call.at(0));
    for (uint64_t I = Size < 2 ? 0 : (uint64_t)Size / 2 * 2; I > 0; I -= 2) {
      uint8_t *Low = (uint8_t *)To + I - 2;
      const uint8_t *Pair = (const uint8_t *)From + I - 2;
      const Label Second = Lock ? byteAt(Pair + 1).label : 0;
      const Label First = Lock ? byteAt(Pair).label : 0;
      clearLabels((uint64_t)Low, 2);
      if (Second)
        storeLabel((uint64_t)Low, 1, Second);
      if (First)
        storeLabel((uint64_t)Low + 1, 1, First);
    }
  }
  swab(From, To, Size);
}

// New memory must not inherit the labels of what was there before.
SF_MODEL_API void *__sf_model_malloc(size_t Size) {
  if (!G.recording)
    return malloc(Size);
  ModelCall Call((const void *)__sf_model_malloc, 1);
  return allocated(Call, malloc(Size), Size, Call.argument(0, Size));
}

SF_MODEL_API void *__sf_model_calloc(size_t Count, size_t Size) {
  if (!G.recording)
    return calloc(Count, Size);
  ModelCall Call((const void *)__sf_model_calloc, 2);
  Operand Asked = Call.argument(0, Count);
  return allocated(Call, calloc(Count, Size), Count * Size,
                   Asked.label ? Asked : Call.argument(1, Size));
}

SF_MODEL_API void *__sf_model_realloc(void *Old, size_t Size) {
  if (!G.recording)
    return realloc(Old, Size);
  ModelCall Call((const void *)__sf_model_realloc, 2);
  uint64_t Kept = Old ? malloc_usable_size(Old) : 0;
  const uint64_t Before = (uint64_t)Old;
  void *P = realloc(Old, Size);
  if (TableLock Lock; Lock) {
    trySizes(Call.argument(1, Size), Call.at(0));
    if (P || !Size)
      forgetAllocation(Before);
    noteAllocation((uint64_t)P, P ? Size : 0);
  }
  if (!P)
    return P;
  if (Kept > Size)
    Kept = Size;
  moved(P, (const void *)Before, Kept);
  clearLabels((uint64_t)P + Kept, Size - Kept);
  return P;
}

SF_MODEL_API void __sf_model_free(void *P) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_free, 0);
    TableLock Lock;
    if (P)
      clearLabels((uint64_t)P, malloc_usable_size(P));
    if (Lock)
      forgetAllocation((uint64_t)P);
  }
  free(P);
}
