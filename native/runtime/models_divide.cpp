// Models of the functions that give quotient and remainder at once.
#include "model.h"

#include <inttypes.h>
#include <stdlib.h>

using namespace sf;

namespace {

struct Division {
  Operand quotient, remainder;
};

Division divided(const ModelCall &Call, unsigned Bits, uint64_t Value, uint64_t By) {
  const Operand X = Call.argument(0, Value), Y = Call.argument(1, By);
  recordBranch(compare(SF_OP_EQ, Bits, Y, constant(0)), Call.at(0));
  if (!By)
    return {constant(0), constant(0)};
  return {binary(SF_OP_SDIV, Bits, X, Y), binary(SF_OP_SREM, Bits, X, Y)};
}

} // namespace

// Both parts are in one register.
SF_MODEL_API uint64_t __sf_model_div(int Value, int By) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_div, 2);
    if (TableLock Lock; Lock) {
      const Division D = divided(Call, 32, (uint32_t)Value, (uint32_t)By);
      Call.returns(concat(D.remainder, 32, D.quotient, 32).label);
    }
  }
  const div_t Result = div(Value, By);
  return (uint64_t)(uint32_t)Result.rem << 32 | (uint32_t)Result.quot;
}

#define SF_DIVIDE_MODEL(result, type, name)                                                        \
  SF_MODEL_API result __sf_model_##name(type Value, type By) {                                     \
    if (G.recording) {                                                                             \
      ModelCall Call((const void *)__sf_model_##name, 2);                                          \
      if (TableLock Lock; Lock) {                                                                  \
        const Division D = divided(Call, 64, (uint64_t)Value, (uint64_t)By);                       \
        Call.returns(D.quotient.label);                                                            \
        Call.alsoReturns(D.remainder.label);                                                       \
      }                                                                                            \
    }                                                                                              \
    return name(Value, By);                                                                        \
  }
SF_DIVIDE_MODEL(ldiv_t, long, ldiv)
SF_DIVIDE_MODEL(lldiv_t, long long, lldiv)
SF_DIVIDE_MODEL(imaxdiv_t, intmax_t, imaxdiv)
