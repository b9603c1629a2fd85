// Models of functions that call the program back to compare.
//
// The real qsort() is not instrumented: what it moves would leave its labels
// behind, and what it makes of an answer would be no branch. So it sorts copies of
// labelled elements, each with its number behind it. The program compares copies,
// in the same order and with the same contents as it would without a model; each
// copy is given the labels of its element before, and the answer is a branch.
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

using namespace sf;

using Compare = int (*)(const void *, const void *);
using CompareWith = int (*)(const void *, const void *, void *);
using SortWith = void (*)(void *, size_t, size_t, CompareWith, void *);

extern "C" __attribute__((weak)) void realSortWith(void *, size_t, size_t, CompareWith,
                                                   void *) asm("qsort_r");

namespace {

constexpr uint64_t SortedBytesMax = 64u << 20;

// Elements, and their copies if they have any.
struct Sorting {
  void *compare;
  void *context;
  bool hasContext;
  Place at;
  uint64_t size = 0, stride = 0;          // of an element, of a copy
  uint64_t copies = 0, labels = 0;        // where the copies are, and the first labels
  uint64_t copyBytes = 0, labelBytes = 0; // of memory

  void labelCopy(const void *Copy) const {
    uint64_t Number;
    memcpy(&Number, (const char *)Copy + stride - sizeof(Number), sizeof(Number));
    copyLabels((uint64_t)Copy, labels + Number * size, size);
  }
};

// What the program's function answers, with its label.
Operand answered(const void *Function, int Result) {
  Label L = __sf_tls.ret_token == Function && __sf_tls.ret_count ? __sf_tls.rets[0] : 0;
  __sf_tls.ret_token = nullptr;
  return operand(L, (uint32_t)Result);
}

int compareElements(const void *A, const void *B, void *Context) {
  const Sorting &S = *(const Sorting *)Context;
  if (S.copies) {
    KeepErrno Keep;
    if (TableLock Lock; Lock) {
      S.labelCopy(A);
      S.labelCopy(B);
    }
  }
  __sf_tls.arg_token = nullptr;
  __sf_tls.ret_token = nullptr;
  int Result =
      S.hasContext ? ((CompareWith)S.compare)(A, B, S.context) : ((Compare)S.compare)(A, B);
  KeepErrno Keep;
  Operand Order = answered(S.compare, Result);
  // The library asks no more than this of it.
  if (TableLock Lock; Lock)
    recordBranch(compare(SF_OP_SLE, 32, Order, constant(0)), S.at);
  return Result;
}

// Copies that are as aligned as their elements.
uint64_t strideOf(uint64_t Size) {
  uint64_t Alignment = Size & (0 - Size);
  Alignment = Alignment < 8 ? 8 : Alignment > 4096 ? 4096 : Alignment;
  return (Size + 8 + Alignment - 1) & ~(Alignment - 1);
}

void makeCopies(Sorting &S, const char *Base, uint64_t Count) {
  KeepErrno Keep;
  TableLock Lock;
  if (!Lock || !Count || !S.size || S.size > SortedBytesMax || Count > SortedBytesMax / S.size ||
      isConcrete((uint64_t)Base, Count * S.size))
    return;
  S.stride = strideOf(S.size);
  S.copyBytes = Count * S.stride;
  S.labelBytes = Count * S.size;
  auto *Copies = (char *)mapZeroed(S.copyBytes);
  void *Labels = Copies ? mapZeroed(S.labelBytes) : nullptr;
  if (!Labels) {
    if (Copies)
      munmap(Copies, S.copyBytes);
    return;
  }
  for (uint64_t I = 0; I < Count; ++I) {
    memcpy(Copies + I * S.stride, Base + I * S.size, S.size);
    memcpy(Copies + (I + 1) * S.stride - sizeof(I), &I, sizeof(I));
  }
  S.copies = (uint64_t)Copies;
  S.labels = (uint64_t)Labels;
  copyLabels(S.labels, (uint64_t)Base, S.labelBytes);
}

void takeCopies(const Sorting &S, char *Base, uint64_t Count) {
  KeepErrno Keep;
  TableLock Lock;
  for (uint64_t I = 0; I < Count; ++I) {
    auto *Copy = (const char *)S.copies + I * S.stride;
    memcpy(Base + I * S.size, Copy, S.size);
    if (!Lock)
      continue;
    S.labelCopy(Copy);
    copyLabels((uint64_t)Base + I * S.size, (uint64_t)Copy, S.size);
  }
  clearLabels(S.copies, S.copyBytes);
  clearLabels(S.labels, S.labelBytes);
  munmap((void *)S.copies, S.copyBytes);
  munmap((void *)S.labels, S.labelBytes);
}

void sorted(const ModelCall &Call, char *Base, uint64_t Count, Sorting S) {
  if (TableLock Lock; Lock)
    for (unsigned I = 1; I < 3; ++I)
      recordFact(Call.argument(I, I == 1 ? Count : S.size), Call.at(I));
  makeCopies(S, Base, Count);
  if (!S.copies) {
    realSortWith(Base, Count, S.size, compareElements, &S);
    return;
  }
  realSortWith((void *)S.copies, Count, S.stride, compareElements, &S);
  takeCopies(S, Base, Count);
}

// bsearch() hands its caller's context to nobody.
__thread const Sorting *Searching;

int compareWithKey(const void *Key, const void *Element) {
  const Sorting &S = *Searching;
  __sf_tls.arg_token = nullptr;
  __sf_tls.ret_token = nullptr;
  int Result = ((Compare)S.compare)(Key, Element);
  KeepErrno Keep;
  Searching = &S; // it may have searched, too
  Operand Order = answered(S.compare, Result);
  TableLock Lock;
  if (!Lock)
    return Result;
  recordGoal(compare(SF_OP_EQ, 32, Order, constant(0)), S.at);
  recordBranch(compare(SF_OP_SLT, 32, Order, constant(0)),
               {S.at.site, (uint16_t)(S.at.ordinal + 1)});
  if (Result >= 0)
    recordBranch(compare(SF_OP_SLT, 32, constant(0), Order),
                 {S.at.site, (uint16_t)(S.at.ordinal + 2)});
  return Result;
}

} // namespace

SF_MODEL_API void __sf_model_qsort(void *Base, size_t Count, size_t Size, Compare With) {
  if (!G.recording || !realSortWith)
    return qsort(Base, Count, Size, With);
  ModelCall Call((const void *)__sf_model_qsort, 3);
  sorted(Call, (char *)Base, Count, {(void *)With, nullptr, false, Call.at(0), Size});
}

SF_MODEL_API void __sf_model_qsort_r(void *Base, size_t Count, size_t Size, CompareWith With,
                                     void *Context) {
  if (!G.recording)
    return realSortWith(Base, Count, Size, With, Context);
  ModelCall Call((const void *)__sf_model_qsort_r, 3);
  sorted(Call, (char *)Base, Count, {(void *)With, Context, true, Call.at(0), Size});
}

SF_MODEL_API void *__sf_model_bsearch(const void *Key, const void *Base, size_t Count, size_t Size,
                                      Compare With) {
  if (!G.recording)
    return bsearch(Key, Base, Count, Size, With);
  ModelCall Call((const void *)__sf_model_bsearch, 0);
  const Sorting S = {(void *)With, nullptr, false, Call.at(0), Size};
  const Sorting *Outer = Searching;
  Searching = &S;
  void *Found = bsearch(Key, Base, Count, Size, compareWithKey);
  Searching = Outer;
  return Found;
}
