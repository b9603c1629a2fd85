// Models of functions on one number.
#include "model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

extern "C" int ffsl(long);
extern "C" int ffsll(long long);

using namespace sf;

namespace {

// One more than the number of zeros before the first bit that is set, or 0.
Operand firstSet(Operand X, unsigned Bits) {
  Operand Zeros = unary(SF_OP_CTTZ, Bits, X);
  Operand Narrow = Bits > 32 ? extract(Zeros, Bits, 0, 32) : Zeros;
  Operand Found = binary(SF_OP_ADD, 32, Narrow, constant(1));
  return ite(compare(SF_OP_EQ, Bits, X, constant(0)), 32, constant(0), Found);
}

// The most negative number stays as it is.
Operand absolute(const ModelCall &Call, Operand X, unsigned Bits) {
  Operand Negative = compare(SF_OP_SLT, Bits, X, constant(0));
  recordGoal(Negative, Call.at(0));
  return ite(Negative, Bits, binary(SF_OP_SUB, Bits, constant(0), X), X);
}

} // namespace

#define SF_FIRST_SET_MODEL(name, type, bits)                                                       \
  SF_MODEL_API int __sf_model_##name(type Value) {                                                 \
    if (!G.recording)                                                                              \
      return name(Value);                                                                          \
    ModelCall Call((const void *)__sf_model_##name, 1);                                            \
    TableLock Lock;                                                                                \
    if (Lock)                                                                                      \
      Call.returns(firstSet(Call.argument(0, (uint64_t)Value &maskOf(bits)), bits).label);         \
    return name(Value);                                                                            \
  }

SF_FIRST_SET_MODEL(ffs, int, 32)
SF_FIRST_SET_MODEL(ffsl, long, 64)
SF_FIRST_SET_MODEL(ffsll, long long, 64)

// Older clangs call them where newer ones have an intrinsic.
#define SF_ABSOLUTE_MODEL(name, type, bits)                                                        \
  SF_MODEL_API type __sf_model_##name(type Value) {                                                \
    if (!G.recording)                                                                              \
      return name(Value);                                                                          \
    ModelCall Call((const void *)__sf_model_##name, 1);                                            \
    TableLock Lock;                                                                                \
    if (Lock)                                                                                      \
      Call.returns(absolute(Call, Call.argument(0, (uint64_t)Value &maskOf(bits)), bits).label);   \
    return name(Value);                                                                            \
  }

SF_ABSOLUTE_MODEL(abs, int, 32)
SF_ABSOLUTE_MODEL(labs, long, 64)
SF_ABSOLUTE_MODEL(llabs, long long, 64)
SF_ABSOLUTE_MODEL(imaxabs, intmax_t, 64)
