// What is handed to functions that carry no labels: uninstrumented ones without a
// model. What they make of it is concrete; here that is counted for each call site.
//
// Watch is the caller's byte for the function. It becomes zero when the function
// turns out to be instrumented, which costs one look at the mark before it.
#include "addresses.h"
#include "shadow.h"

#include <string.h>

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

bool isWatched(uint8_t *Watch, const void *Callee) {
  if (!G.recording || !*Watch)
    return false;
  if (isInstrumented(Callee))
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
  if (!Any || !isWatched(Watch, Callee))
    return;
  noteLoss(Where);
  Counted = Where;
}

SF_API void __sf_hand_over_memory(uint8_t *Watch, const void *Callee, const char *Where,
                                  uint64_t Start, uint64_t End, uint64_t Start2, uint64_t End2,
                                  uint64_t Start3, uint64_t End3) {
  const bool Told = Counted == Where;
  Counted = nullptr;
  if (Told || !isWatched(Watch, Callee))
    return;
  bool Any;
  {
    TableLock Lock;
    Any = Lock && (hasLabels(Start, End) || hasLabels(Start2, End2) || hasLabels(Start3, End3));
  }
  if (Any)
    noteLoss(Where);
}
