// Models of longjmp() and siglongjmp(): what they are given comes back from a call of
// setjmp() that was made long before, which cannot have a model.
#include "model.h"

#include <setjmp.h>

using namespace sf;

namespace {

// Setter: what the program called for Place; its call gets the value's label as any
// other gets that of its result.
void jumpWith(const void *Self, const void *Setter, int Value) {
  if (!G.recording)
    return;
  ModelCall Call(Self, 2);
  const Operand Given = Call.argument(1, (uint32_t)Value);
  TableLock Lock;
  if (!Lock || !Given.label)
    return;
  recordBranch(compare(SF_OP_EQ, 32, Given, constant(0)), Call.at(0)); // is 1 then
  if (!Value)
    return;
  __sf_tls.ret_token = Setter;
  __sf_tls.ret_count = 1;
  __sf_tls.rets[0] = Given.label;
}

} // namespace

#define SF_JUMP_MODEL(name, setter)                                                                \
  SF_MODEL_API void __sf_model_##name(struct __jmp_buf_tag *Place, int Value) {                    \
    jumpWith((const void *)__sf_model_##name, (const void *)setter, Value);                        \
    name(Place, Value);                                                                            \
  }
SF_JUMP_MODEL(longjmp, _setjmp)
SF_JUMP_MODEL(_longjmp, _setjmp)
SF_JUMP_MODEL(siglongjmp, __sigsetjmp)
