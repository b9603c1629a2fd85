// What differs from run to run, pinned on request.
#include "model.h"

#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>

using namespace sf;

namespace {

bool pinned(uint32_t Flag) { return G.attached && G.header->flags & Flag; }

// A fixed stream for each execution (xorshift64*).
uint64_t nextPinnedWord() {
  static uint64_t State = 0x9e3779b97f4a7c15ull;
  State ^= State >> 12;
  State ^= State << 25;
  State ^= State >> 27;
  return State * 0x2545f4914f6cdd1dull;
}

// Pinned time moves by a microsecond a call, so that waiting loops end.
timespec pinnedTime() {
  static uint64_t Calls;
  uint64_t N = __atomic_fetch_add(&Calls, 1, __ATOMIC_RELAXED);
  return {(time_t)(G.header->pinned_time_s + N / 1000000), (long)(N % 1000000 * 1000)};
}

} // namespace

SF_MODEL_API time_t __sf_model_time(time_t *Out) {
  if (!pinned(SF_PIN_TIME))
    return time(Out);
  if (Out)
    *Out = (time_t)G.header->pinned_time_s;
  return (time_t)G.header->pinned_time_s;
}

SF_MODEL_API int __sf_model_gettimeofday(struct timeval *Out, void *Zone) {
  int Result = gettimeofday(Out, Zone);
  if (Out && pinned(SF_PIN_TIME)) {
    timespec Now = pinnedTime();
    TIMESPEC_TO_TIMEVAL(Out, &Now);
  }
  return Result;
}

SF_MODEL_API int __sf_model_clock_gettime(clockid_t Clock, struct timespec *Out) {
  int Result = clock_gettime(Clock, Out);
  if (Result == 0 && pinned(SF_PIN_TIME))
    *Out = pinnedTime();
  return Result;
}

SF_MODEL_API ssize_t __sf_model_getrandom(void *Buffer, size_t Size, unsigned Flags) {
  if (!pinned(SF_PIN_RANDOM))
    return getrandom(Buffer, Size, Flags);
  for (size_t I = 0; I < Size; I += 8) {
    uint64_t Word = nextPinnedWord();
    memcpy((char *)Buffer + I, &Word, Size - I < 8 ? Size - I : 8);
  }
  return (ssize_t)Size;
}
