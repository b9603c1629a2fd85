// The frame of a libc model.
//
// A model calls the real function for its concrete effect, whatever library
// that is in this process, and then says what the effect means for labels. When
// nothing is recorded it is the real function and no more.
#ifndef SYMFLEET_RUNTIME_MODEL_H
#define SYMFLEET_RUNTIME_MODEL_H

#include "events.h"
#include "shadow.h"

#include <errno.h>

#define SF_MODEL_API SF_API

namespace sf {

// Takes the labels of the arguments and hands out that of the result.
class ModelCall {
public:
  ModelCall(const void *Self, unsigned ArgumentCount) : Self(Self) {
    __sf_tls.ret_token = nullptr;
    bool Labelled = __sf_tls.arg_token == Self;
    __sf_tls.arg_token = nullptr;
    for (unsigned I = 0; I < ArgumentCount; ++I)
      Labels[I] = Labelled && I < __sf_tls.arg_count ? __sf_tls.args[I] : 0;
    site = __sf_tls.site;
  }
  ModelCall(const ModelCall &) = delete;
  ModelCall &operator=(const ModelCall &) = delete;

  Operand argument(unsigned I, uint64_t Value) const { return operand(Labels[I], Value); }

  void returns(Label L) {
    if (!L)
      return;
    __sf_tls.ret_token = Self;
    __sf_tls.ret_count = 1;
    __sf_tls.rets[0] = L;
  }

  // The next leaf of a result that has several, after returns().
  void alsoReturns(Label L) {
    if (__sf_tls.ret_token != Self) { // the first ones have none
      __sf_tls.ret_count = 1;
      __sf_tls.rets[0] = 0;
    }
    __sf_tls.ret_token = L ? Self : __sf_tls.ret_token;
    __sf_tls.rets[__sf_tls.ret_count++] = L;
  }

  Place at(uint64_t Ordinal) const { return {site, (uint16_t)(Ordinal + 1)}; }
  // Where the input ends, rather than what is in it, decides.
  Place atEnd(bool Behind = false) const { return {site, (uint16_t)(SF_AUX_END + Behind)}; }

  uint64_t site;

private:
  const void *Self;
  Label Labels[8];
};

// A model leaves errno as the real function did.
class KeepErrno {
public:
  KeepErrno() : Saved(errno) {}
  ~KeepErrno() { errno = Saved; }
  KeepErrno(const KeepErrno &) = delete;
  KeepErrno &operator=(const KeepErrno &) = delete;

private:
  int Saved;
};

// Says what a real function's effect means, once it has been called. The table's
// lock is held meanwhile.
template <typename Meaning> void afterwards(const void *Self, Meaning What) {
  if (!G.recording)
    return;
  ModelCall Call(Self, 0);
  KeepErrno Keep;
  if (TableLock Lock; Lock)
    What(Call);
}

// Table[value] for each value of an operand that depends on one input byte;
// Bits is 8, 16, 32 or 64. Gives a constant when it depends on more.
Operand mapThroughTable(Operand A, unsigned Bits, uint64_t (*Map)(uint64_t Value, const void *),
                        const void *Context);

} // namespace sf

#endif
