// What is handed to functions that carry no labels: uninstrumented ones without a
// model. What they make of it is concrete; here that is counted for each call site.
//
// Watch is the caller's byte for the function. It becomes zero when the function
// turns out to be instrumented, which costs one look at the mark before it.
#include "addresses.h"
#include "shadow.h"

#include <dlfcn.h>
#include <string.h>

// Older C libraries have it in a library of its own, which the program may lack.
#pragma weak dlsym

using namespace sf;

namespace {

constexpr uint64_t LookedAtMax = 64; // bytes of an object whose size is not known

// The call that was counted for its values: not again for its memory.
__thread const char *Counted;

bool hasMark(const void *Callee, unsigned Distance) {
  const uint64_t At = (uint64_t)Callee - Distance;
  constexpr uint64_t Page = 1u << SF_SHADOW_PAGE_BITS;
  if (((uint64_t)Callee & (Page - 1)) < Distance && !isReadable(At))
    return false;
  char Before[SF_FUNCTION_MARK_BYTES];
  for (unsigned I = 0; I < SF_FUNCTION_MARK_BYTES; I += 8)
    readMemory(Before + I, At + I, 8);
  return memcmp(Before, SF_FUNCTION_MARK, SF_FUNCTION_MARK_BYTES) == 0;
}

bool isInstrumented(const void *Callee) {
  return hasMark(Callee, SF_FUNCTION_MARK_BYTES) ||
         hasMark(Callee, SF_FUNCTION_MARK_BYTES + SF_FUNCTION_TYPE_BYTES);
}

// Whether nothing but a jump through a table of addresses stands there, as the
// linker makes it for functions of other objects: [endbr64] [bnd] jmp *table(%rip).
bool isStub(const void *Callee) {
  uint64_t Code;
  readMemory((char *)&Code, (uint64_t)Callee, sizeof Code);
  constexpr uint64_t BranchMark = 0xfa1e0ff3;
  if ((Code & 0xffffffff) == BranchMark)
    Code >>= 32;
  if ((Code & 0xff) == 0xf2)
    Code >>= 8;
  return (Code & 0xffff) == 0x25ff;
}

// In a program at a fixed address, the address of a library's function is that of
// a stub in the program. The table behind the stub may be filled by the first call
// only; the function is looked for by its name, which Where has.
const void *behindStub(const void *Callee, const char *Where) {
  constexpr size_t Lead = sizeof SF_LOSS_CALL - 1;
  char Name[1024];
  if (!dlsym || !isStub(Callee) || strncmp(Where, SF_LOSS_CALL, Lead) != 0)
    return Callee;
  const size_t Length = strcspn(Where + Lead, " ");
  if (Length >= sizeof Name)
    return Callee;
  memcpy(Name, Where + Lead, Length);
  Name[Length] = 0;
  const void *Found = dlsym(RTLD_NEXT, Name);
  return Found ? Found : Callee;
}

bool isWatched(uint8_t *Watch, const void *Callee, const char *Where) {
  if (!G.recording || !*Watch)
    return false;
  if (isInstrumented(Callee) || isInstrumented(behindStub(Callee, Where)))
    *Watch = 0;
  return *Watch;
}

// Whether the object at Start has labels that are true. End: of the object, or 0.
bool hasLabels(uint64_t Start, uint64_t End) {
  if (Start >> 47)
    return false;
  const bool Known = End > Start;
  const uint64_t Most = Known && End - Start < LookedAtMax ? End - Start : LookedAtMax;
  uint64_t At = Start;
  while (At < Start + Most && isConcrete(At, 1))
    ++At;
  if (At == Start + Most || !isReadable(At) || !isLabelled(At))
    return false;
  if (Known || At == Start)
    return true;
  // It may belong to what stands behind the object.
  const Object Held = objectAt(Start, {0, 0});
  return !Held.size || At - Held.low < Held.size;
}

} // namespace

// Any: whether an argument has a label.
SF_API void __sf_hand_over(Label Any, uint8_t *Watch, const void *Callee, const char *Where) {
  if (!Any || !isWatched(Watch, Callee, Where))
    return;
  noteLoss(Where);
  Counted = Where;
}

SF_API void __sf_hand_over_memory(uint8_t *Watch, const void *Callee, const char *Where,
                                  uint64_t Start, uint64_t End, uint64_t Start2, uint64_t End2,
                                  uint64_t Start3, uint64_t End3) {
  const bool Told = Counted == Where;
  Counted = nullptr;
  if (Told || !isWatched(Watch, Callee, Where))
    return;
  bool Any;
  {
    TableLock Lock;
    Any = Lock && (hasLabels(Start, End) || hasLabels(Start2, End2) || hasLabels(Start3, End3));
  }
  if (Any)
    noteLoss(Where);
}
