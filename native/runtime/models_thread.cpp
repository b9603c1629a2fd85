// Models of what goes into a thread and comes out of it by value: its argument, its
// result, and what it keeps under a key. All else that threads share is memory.
#include "model.h"

#include <pthread.h>
#include <string.h>
#include <threads.h>

using namespace sf;

namespace {

// ---- Threads that have been started from instrumented code

union Routine {
  void *(*posix)(void *);
  int (*standard)(void *);
  const void *token;
};

struct Start {
  bool used;
  Routine routine;
  Operand argument;
};
// More at the same time begin and end without labels.
constexpr unsigned ThreadsMax = 64;
Start Starts[ThreadsMax];

struct Ended {
  pthread_t thread;
  Operand result;
};
Ended Results[ThreadsMax];
unsigned NextResult;

Start *startOf(Routine What, Operand Argument) {
  for (Start &S : Starts)
    if (!__atomic_test_and_set(&S.used, __ATOMIC_ACQUIRE)) {
      S.routine = What;
      S.argument = Argument;
      return &S;
    }
  return nullptr;
}

// The caller holds the table lock.
void keepResult(Operand Result) {
  for (Ended &Each : Results)
    if (pthread_equal(Each.thread, pthread_self()))
      Each = {};
  if (Result.label)
    Results[NextResult++ % ThreadsMax] = {pthread_self(), Result};
}

Operand resultOf(pthread_t Thread, uint64_t Value) {
  for (Ended &Each : Results)
    if (Each.result.label && pthread_equal(Each.thread, Thread)) {
      const Operand Result = Each.result;
      Each = {};
      return operand(Result.label, Value);
    }
  return constant(Value);
}

// Calls Body as an instrumented caller would.
template <typename Body> auto run(const Start &S, Body Call) {
  __sf_tls.arg_token = S.routine.token;
  __sf_tls.arg_count = 1;
  __sf_tls.args[0] = S.argument.label;
  __sf_tls.ret_token = nullptr;
  auto Result = Call((void *)S.argument.value);
  const bool Labelled = __sf_tls.ret_token == S.routine.token && __sf_tls.ret_count;
  const Label L = Labelled ? __sf_tls.rets[0] : 0;
  __sf_tls.ret_token = nullptr;
  KeepErrno Keep;
  if (TableLock Lock; Lock)
    keepResult(operand(L, sizeof(Result) == 4 ? (uint32_t)(uint64_t)Result : (uint64_t)Result));
  return Result;
}

Start take(void *Given) {
  const Start Own = *(Start *)Given;
  __atomic_clear(&((Start *)Given)->used, __ATOMIC_RELEASE);
  return Own;
}

void *posixThread(void *Given) {
  const Start Own = take(Given);
  return run(Own, Own.routine.posix);
}

int standardThread(void *Given) {
  const Start Own = take(Given);
  return run(Own, Own.routine.standard);
}

Start *startedBy(const void *Self, unsigned ArgumentIndex, Routine What, void *Argument) {
  if (!G.recording)
    return nullptr;
  ModelCall Call(Self, ArgumentIndex + 1);
  return startOf(What, Call.argument(ArgumentIndex, (uint64_t)Argument));
}

void giveUp(Start *S) { __atomic_clear(&S->used, __ATOMIC_RELEASE); }

// ---- What a thread keeps under a key

constexpr unsigned KeysMax = 64;
__thread Operand Kept[KeysMax];

void keep(const void *Self, unsigned Key, const void *Value) {
  if (!G.recording)
    return;
  ModelCall Call(Self, 2);
  const Operand Given = Call.argument(1, (uint64_t)Value);
  if (Key < KeysMax)
    Kept[Key] = Given;
}

void kept(const void *Self, unsigned Key, const void *Value) {
  afterwards(Self, [&](ModelCall &Call) {
    if (Key < KeysMax && Kept[Key].value == (uint64_t)Value)
      Call.returns(live(Kept[Key].label, (uint64_t)Value));
  });
}

} // namespace

SF_MODEL_API int __sf_model_pthread_create(pthread_t *Thread, const pthread_attr_t *How,
                                           void *(*What)(void *), void *Argument) {
  Routine Wanted;
  Wanted.posix = What;
  Start *S = startedBy((const void *)__sf_model_pthread_create, 3, Wanted, Argument);
  if (!S)
    return pthread_create(Thread, How, What, Argument);
  const int Result = pthread_create(Thread, How, posixThread, S);
  if (Result != 0)
    giveUp(S);
  return Result;
}

SF_MODEL_API int __sf_model_thrd_create(thrd_t *Thread, int (*What)(void *), void *Argument) {
  Routine Wanted;
  Wanted.standard = What;
  Start *S = startedBy((const void *)__sf_model_thrd_create, 2, Wanted, Argument);
  if (!S)
    return thrd_create(Thread, What, Argument);
  const int Result = thrd_create(Thread, standardThread, S);
  if (Result != thrd_success)
    giveUp(S);
  return Result;
}

// A thread that ends here does not come back to the function that began it.
SF_MODEL_API void __sf_model_pthread_exit(void *Value) {
  if (G.recording) {
    ModelCall Call((const void *)__sf_model_pthread_exit, 1);
    if (TableLock Lock; Lock)
      keepResult(Call.argument(0, (uint64_t)Value));
  }
  pthread_exit(Value);
}

SF_MODEL_API int __sf_model_pthread_join(pthread_t Thread, void **Value) {
  const int Result = pthread_join(Thread, Value);
  afterwards((const void *)__sf_model_pthread_join, [&](ModelCall &) {
    uint64_t Given = 0;
    if (Result != 0 || !Value)
      return;
    memcpy(&Given, Value, sizeof(Given));
    clearLabels((uint64_t)Value, sizeof(Given));
    storeLabel((uint64_t)Value, sizeof(Given), live(resultOf(Thread, Given).label, Given));
  });
  return Result;
}

SF_MODEL_API int __sf_model_thrd_join(thrd_t Thread, int *Value) {
  const int Result = thrd_join(Thread, Value);
  afterwards((const void *)__sf_model_thrd_join, [&](ModelCall &) {
    if (Result != thrd_success || !Value)
      return;
    clearLabels((uint64_t)Value, sizeof(*Value));
    const uint64_t Given = (uint32_t)*Value;
    storeLabel((uint64_t)Value, sizeof(*Value), live(resultOf(Thread, Given).label, Given));
  });
  return Result;
}

SF_MODEL_API int __sf_model_pthread_setspecific(pthread_key_t Key, const void *Value) {
  keep((const void *)__sf_model_pthread_setspecific, Key, Value);
  return pthread_setspecific(Key, Value);
}

SF_MODEL_API void *__sf_model_pthread_getspecific(pthread_key_t Key) {
  void *const Value = pthread_getspecific(Key);
  kept((const void *)__sf_model_pthread_getspecific, Key, Value);
  return Value;
}

SF_MODEL_API int __sf_model_tss_set(tss_t Key, void *Value) {
  keep((const void *)__sf_model_tss_set, Key, Value);
  return tss_set(Key, Value);
}

SF_MODEL_API void *__sf_model_tss_get(tss_t Key) {
  void *const Value = tss_get(Key);
  kept((const void *)__sf_model_tss_get, Key, Value);
  return Value;
}
