// What instrumented code calls when something in a block may be labelled.
//
// Every function takes labels and concrete values, drops labels whose value
// differs, and returns the label of the result. They are reached from cold
// blocks only; a fully concrete run calls none of them.
#include "addresses.h"
#include "shadow.h"

#include <string.h>

using namespace sf;

namespace {

// Operations arrive as op | width << 8.
sf_op opOf(uint32_t Packed) { return (sf_op)(Packed & 0xff); }
unsigned widthOf(uint32_t Packed) { return Packed >> 8 & 0xff; }

constexpr Label NoLabels[SF_CALL_LABELS] = {};

// The object that the next access is known to mean.
__thread Object Hint;

Object takeHint() {
  Object O = Hint;
  Hint = {0, 0};
  return O;
}

void countLoss(const char *Where) {
  static const char *Met[SF_LOSSES_MAX];
  const uint64_t Count = G.header->losses_len;
  for (uint64_t I = 0; I < Count && I < SF_LOSSES_MAX; ++I)
    if (Met[I] == Where) {
      ++G.header->losses[I].count;
      return;
    }
  if (Count >= SF_LOSSES_MAX)
    return;
  Met[Count] = Where;
  sf_loss &Loss = G.header->losses[Count];
  strncpy(Loss.where, Where, sizeof(Loss.where) - 1);
  Loss.count = 1;
  G.header->losses_len = Count + 1;
}

} // namespace

SF_API Label __sf_binary(uint32_t Packed, Label LA, Label LB, uint64_t A, uint64_t B) {
  if (!(LA | LB))
    return 0;
  TableLock Lock;
  return Lock ? binary(opOf(Packed), widthOf(Packed), operand(LA, A), operand(LB, B)).label : 0;
}

// (High above Low) divided by By, each of Packed's width: SF_OP_UDIVW or SF_OP_UREMW.
SF_API Label __sf_divide(uint32_t Packed, Label LH, Label LL, Label LB, uint64_t High, uint64_t Low,
                         uint64_t By) {
  if (!(LH | LL | LB))
    return 0;
  TableLock Lock;
  if (!Lock)
    return 0;
  Operand Upper = operand(LH, High), Lower = operand(LL, Low);
  return divideDouble(opOf(Packed), widthOf(Packed), Upper, Lower, operand(LB, By)).label;
}

SF_API Label __sf_compare(uint32_t Packed, Label LA, Label LB, uint64_t A, uint64_t B) {
  if (!(LA | LB))
    return 0;
  TableLock Lock;
  return Lock ? compare(opOf(Packed), widthOf(Packed), operand(LA, A), operand(LB, B)).label : 0;
}

SF_API Label __sf_unary(uint32_t Packed, Label LA, uint64_t A) {
  if (!LA)
    return 0;
  TableLock Lock;
  return Lock ? unary(opOf(Packed), widthOf(Packed), operand(LA, A)).label : 0;
}

// Packed: op | from << 8 | to << 16 | low bit << 24 (extract).
SF_API Label __sf_cast(uint32_t Packed, Label LA, uint64_t A) {
  if (!LA)
    return 0;
  TableLock Lock;
  if (!Lock)
    return 0;
  unsigned From = Packed >> 8 & 0xff, To = Packed >> 16 & 0xff, Low = Packed >> 24;
  switch (opOf(Packed)) {
  case SF_OP_ZEXT:
    return zext(operand(LA, A), From, To).label;
  case SF_OP_SEXT:
    return sext(operand(LA, A), From, To).label;
  default:
    return extract(operand(LA, A), From, Low, To).label;
  }
}

// Packed: width of the upper part | width of the lower << 8.
SF_API Label __sf_concat(uint32_t Packed, Label LH, Label LL, uint64_t High, uint64_t Low) {
  if (!(LH | LL))
    return 0;
  TableLock Lock;
  if (!Lock)
    return 0;
  return concat(operand(LH, High), Packed & 0xff, operand(LL, Low), Packed >> 8).label;
}

// bits | 0x100 when the condition is a goal of its own (a select).
SF_API Label __sf_select(uint32_t Packed, Label LC, Label LT, Label LE, uint64_t C, uint64_t T,
                         uint64_t E, uint64_t Site) {
  if (!(LC | LT | LE))
    return 0;
  TableLock Lock;
  if (!Lock)
    return 0;
  Operand Condition = operand(LC, C);
  if (Packed & 0x100)
    recordGoal(Condition, {Site, 0});
  return ite(Condition, Packed & 0xff, operand(LT, T), operand(LE, E)).label;
}

// `a && b` or `a || b`: op | 0x100 when b may be evaluated first. If one of them
// decides and does not depend on the input, nothing is left of the other one;
// but what it guards may depend on it in another run (a length before bytes that
// are not there yet), as is seen where each has a branch of its own.
SF_API Label __sf_logical(uint32_t Packed, Label LA, Label LB, uint64_t A, uint64_t B,
                          uint64_t Site) {
  if (!(LA | LB))
    return 0;
  TableLock Lock;
  if (!Lock)
    return 0;
  const sf_op Op = opOf(Packed);
  Operand X = operand(LA, A), Y = operand(LB, B);
  Operand Out = binary(Op, 1, X, Y);
  const bool Hides = X.value == Y.value && X.value == (Op == SF_OP_OR);
  if (Hides && X.label && !Y.label)
    recordGoal(X, {Site, 0});
  else if (Hides && Y.label && !X.label && (Packed & 0x100))
    recordGoal(Y, {Site, 0});
  return Out.label;
}

// A rotate or funnel shift, as the CPU did it for this amount.
SF_API Label __sf_funnel(uint32_t Packed, Label LA, Label LB, Label LC, uint64_t A, uint64_t B,
                         uint64_t C) {
  if (!(LA | LB | LC))
    return 0;
  TableLock Lock;
  if (!Lock)
    return 0;
  unsigned Bits = Packed & 0xff;
  bool Right = Packed & 0x100;
  Operand High = operand(LA, A), Low = operand(LB, B), Amount = operand(LC, C);
  Operand Turn = binary(SF_OP_UREM, Bits, Amount, constant(Bits));
  Operand Rest = binary(SF_OP_SUB, Bits, constant(Bits), Turn);
  if (Right) { // fshr: (high << (bits - c)) | (low >> c)
    Operand T = Turn;
    Turn = Rest;
    Rest = T;
  }
  // A shift by the full width gives 0 here, so the case c = 0 needs no branch.
  return binary(SF_OP_OR, Bits, binary(SF_OP_SHL, Bits, High, Turn),
                binary(SF_OP_LSHR, Bits, Low, Rest))
      .label;
}

SF_API void __sf_branch(Label L, uint64_t Taken, uint64_t Site) {
  if (!L)
    return;
  TableLock Lock;
  if (Lock)
    recordBranch(operand(L, Taken), {Site, 0});
}

SF_API void __sf_divisor(uint32_t Bits, Label L, uint64_t Value, uint64_t Site) {
  if (!L)
    return;
  TableLock Lock;
  if (Lock)
    recordBranch(compare(SF_OP_EQ, Bits, operand(L, Value), constant(0)), {Site, 0});
}

// Whether a value goes the way of the ranges from First on; First moves on to
// the next way.
static Operand goesThatWay(const sf_switch *S, Operand X, uint32_t &First) {
  const uint64_t Way = S->ranges[First].way;
  Operand Any = constant(0);
  for (; First < S->count && S->ranges[First].way == Way; ++First) {
    const sf_switch_range &R = S->ranges[First];
    Operand Is = R.low == R.high
                     ? compare(SF_OP_EQ, S->bits, X, constant(R.low))
                     : compare(SF_OP_ULE, S->bits, binary(SF_OP_SUB, S->bits, X, constant(R.low)),
                               constant(R.high - R.low));
    Any = binary(SF_OP_OR, 1, Any, Is);
  }
  return Any;
}

// Cases that go the same way are one condition: the way is what the program
// does, and which of the values took it shows where it is used.
SF_API void __sf_switch(const sf_switch *S, Label L, uint64_t Value) {
  if (!L)
    return;
  TableLock Lock;
  if (!Lock)
    return;
  Operand X = operand(L, Value), Taken = constant(0), Any = constant(0);
  Place At{S->site, 0}, TakenAt = At;
  for (uint32_t First = 0; First < S->count; ++At.ordinal) {
    Operand Way = goesThatWay(S, X, First);
    Any = binary(SF_OP_OR, 1, Any, Way);
    if (Way.value) {
      Taken = Way;
      TakenAt = At;
    }
  }
  // Goals come first: behind the way taken they could not be reached.
  At.ordinal = 0;
  for (uint32_t First = 0; First < S->count; ++At.ordinal) {
    Operand Way = goesThatWay(S, X, First);
    if (!Any.value)
      recordBranch(Way, At);
    else if (!Way.value)
      recordGoal(Way, At);
  }
  if (Any.value) {
    recordGoal(Any, At);
    recordBranch(Taken, TakenAt);
  }
}

// A write of something concrete at an address with a label.
SF_API void __sf_write(Label LA, uint64_t Address, uint64_t Size, uint64_t Site) {
  if (!LA)
    return;
  TableLock Lock;
  if (Lock)
    writeAt(operand(LA, Address), (unsigned)Size, takeHint(), {Site, 0});
}

// What the following access belongs to: a global, or a variable on the stack.
SF_API void __sf_object(uint64_t Low, uint64_t Size) { Hint = {Low, Size}; }

// Where a call or a computed jump goes.
SF_API void __sf_target(Label L, uint64_t Value, uint64_t Site) {
  if (!L)
    return;
  TableLock Lock;
  if (Lock)
    jumpTo(operand(L, Value), {Site, 0});
}

SF_API void __sf_concrete(Label L, uint64_t Value, uint64_t Site) {
  if (!L)
    return;
  TableLock Lock;
  if (Lock)
    concretise(operand(L, Value), {Site, 0});
}

SF_API Label __sf_load(uint64_t Address, uint32_t Bits, Label LA, uint64_t Value, uint64_t Site) {
  TableLock Lock;
  if (!Lock)
    return 0;
  const unsigned Bytes = (Bits + 7) / 8;
  Operand Out = readAt(operand(LA, Address), Bytes, Value, takeHint(), {Site, 0});
  return extract(Out, 8 * Bytes, 0, Bits).label;
}

SF_API void __sf_store(uint64_t Address, uint32_t Bits, Label LA, Label L, uint64_t Value,
                       uint64_t Site) {
  if (!(LA | L)) {
    clearLabels(Address, (Bits + 7) / 8);
    return;
  }
  TableLock Lock;
  if (!Lock)
    return;
  const unsigned Bytes = (Bits + 7) / 8;
  writeAt(operand(LA, Address), Bytes, takeHint(), {Site, 0});
  storeLabel(Address, Bytes, zext(operand(L, Value), Bits, 8 * Bytes).label);
}

SF_API void __sf_clear(uint64_t Address, uint64_t Size) { clearLabels(Address, Size); }

SF_API void __sf_copy(uint64_t To, uint64_t From, uint64_t Size, Label LS, uint64_t Site) {
  TableLock Lock;
  if (Lock && !copySized(To, From, operand(LS, Size), {Site, 0}))
    copyLabels(To, From, Size);
}

SF_API void __sf_fill(uint64_t To, uint64_t Value, uint64_t Size, Label L, Label LS,
                      uint64_t Site) {
  TableLock Lock;
  if (!Lock || fillSized(To, operand(L, Value), operand(LS, Size), {Site, 0}))
    return;
  L = live(L, Value);
  if (!L)
    clearLabels(To, Size);
  for (uint64_t I = 0; L && I < Size; ++I)
    storeLabel(To + I, 1, L);
}

// Of what unmodelled assembly reads at one place; a bound on the facts.
static constexpr uint64_t LostBytesMax = 4096;

// An operand that something made concrete which is not modelled.
SF_API void __sf_fact(Label L, uint64_t Value, uint64_t Site) {
  if (!L)
    return;
  TableLock Lock;
  if (Lock)
    recordFact(operand(L, Value), {Site, 0});
}

// Where: a constant of the module, so equal for each visit of the place.
void sf::noteUnmodelled(Label L, const char *Where) {
  if (!L || !G.recording)
    return;
  TableLock Lock;
  if (Lock)
    noteUnmodelledLocked(L, Where);
}

void sf::noteUnmodelledLocked(Label L, const char *Where) {
  if (!L)
    return;
  ++G.header->unmodelled;
  countLoss(Where);
}

void sf::noteLoss(const char *Where) {
  if (TableLock Lock; Lock)
    countLoss(Where);
}

SF_API void __sf_unmodelled(Label L, const char *Where) { noteUnmodelled(L, Where); }

// Memory that something reads which is not modelled: its bytes become facts.
SF_API void __sf_unmodelled_memory(uint64_t Address, uint64_t Size, const char *Where,
                                   uint64_t Site) {
  TableLock Lock;
  if (!Lock || isConcrete(Address, Size))
    return;
  bool Counted = false;
  for (uint64_t At = Address; At < Address + Size && At < Address + LostBytesMax; ++At) {
    Operand Byte = byteAt((const void *)At);
    if (!Byte.label)
      continue;
    recordFact(Byte, {Site, 0});
    if (!Counted)
      noteUnmodelledLocked(Byte.label, Where);
    Counted = true;
  }
}

// ---- Calls

// Names the callee if any label is set; returns where the labels belong.
SF_API Label *__sf_pass_args(const void *Callee, uint32_t Count, Label Any) {
  if (Any) {
    __sf_tls.arg_token = Callee;
    __sf_tls.arg_count = Count;
  }
  return __sf_tls.args;
}

// The labels that were passed to Self, as many as it asks for.
SF_API const Label *__sf_take_args(const void *Self, uint32_t Count) {
  const void *Token = __sf_tls.arg_token;
  __sf_tls.arg_token = nullptr;
  if (Token != Self)
    return NoLabels;
  for (uint32_t I = __sf_tls.arg_count; I < Count; ++I)
    __sf_tls.args[I] = 0;
  return __sf_tls.args;
}

// An argument passed by value in memory: the callee's copy gets the labels of
// the caller's. Says whether there are any.
SF_API Label __sf_pass_byval(uint32_t Index, uint64_t Address, uint64_t Size) {
  if (Index >= SF_CALL_BYVALS)
    return 0;
  __sf_tls.byvals[Index] = Address;
  return !isConcrete(Address, Size);
}

SF_API void __sf_take_byval(const Label *Args, uint32_t Index, uint64_t Copy, uint64_t Size) {
  TableLock Lock;
  if (Args == NoLabels || Index >= SF_CALL_BYVALS || !Lock)
    clearLabels(Copy, Size);
  else
    copyLabels(Copy, __sf_tls.byvals[Index], Size);
}

SF_API Label *__sf_pass_ret(const void *Self, uint32_t Count, Label Any) {
  if (Any) {
    __sf_tls.ret_token = Self;
    __sf_tls.ret_count = Count;
  }
  return __sf_tls.rets;
}

// Token is what the record named when the call came back.
SF_API const Label *__sf_take_ret(const void *Token, const void *Callee, uint32_t Count) {
  // A callee that ended by a tail call had its result given by another.
  bool Tail = __sf_tls.tail_from == Callee && __sf_tls.tail_to == Token;
  __sf_tls.ret_token = nullptr;
  __sf_tls.tail_from = nullptr;
  if (Token != Callee && !Tail)
    return NoLabels;
  for (uint32_t I = __sf_tls.ret_count; I < Count; ++I)
    __sf_tls.rets[I] = 0;
  return __sf_tls.rets;
}

// ---- Variadic functions

SF_API void __sf_pass_varargs(uint32_t First, uint32_t Count, uint64_t Classes) {
  __sf_tls.va_first = First;
  __sf_tls.va_count = Count;
  __sf_tls.va_classes = Classes;
}

// Saves the labels until va_start: other calls use the record before.
SF_API void __sf_take_varargs(const Label *Args, sf_varargs *Saved) {
  if (Args == NoLabels)
    return;
  Saved->classes = __sf_tls.va_classes;
  for (uint32_t I = 0; I < __sf_tls.va_count; ++I) {
    uint32_t Slot = __sf_tls.va_first + I;
    bool Passed = Slot < __sf_tls.arg_count && Slot < SF_CALL_LABELS;
    Saved->labels[I] = Passed ? __sf_tls.args[Slot] : 0;
  }
  Saved->count = __sf_tls.va_count;
}

namespace {

// The System V register save area, as va_start fills in a va_list.
struct VaList {
  uint32_t gpOffset, fpOffset;
  uint64_t overflow, saved;
};

constexpr uint32_t GpBytes = 48, FpBytes = 176;

} // namespace

SF_API void __sf_va_start(const void *List, const sf_varargs *Passed) {
  TableLock Lock;
  if (!Lock)
    return;
  VaList V = *(const VaList *)List;
  for (uint32_t I = 0; I < Passed->count; ++I) {
    const unsigned Class = Passed->classes >> (2 * I) & 3;
    if (Class == SF_VARARG_X87_LOW || Class == SF_VARARG_X87_HIGH) {
      bool Low = Class == SF_VARARG_X87_LOW;
      V.overflow = Low ? (V.overflow + 15) & ~15ull : V.overflow;
      storeLabel(V.overflow, Low ? 8 : 2, Passed->labels[I]);
      V.overflow += 8;
      continue;
    }
    bool Sse = Class == SF_VARARG_SSE;
    uint32_t &Offset = Sse ? V.fpOffset : V.gpOffset;
    const uint32_t Limit = Sse ? FpBytes : GpBytes, Step = Sse ? 16 : 8;
    uint64_t At = V.saved + Offset;
    if (Offset < Limit) {
      Offset += Step;
    } else {
      At = V.overflow;
      V.overflow += 8;
    }
    storeLabel(At, 8, Passed->labels[I]);
  }
}
