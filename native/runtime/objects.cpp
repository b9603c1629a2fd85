// Objects of the heap, and the values that an address can have.
#include "addresses.h"

#include <sys/mman.h>

namespace sf {

namespace {

// Open addressing by the start of an object; looked through as a whole when an
// address within is asked for, which only symbolic addresses do.
struct Heap {
  Object *slots;
  uint64_t capacity, used; // removed ones keep their slot, with size 0
};
Heap TheHeap;
constexpr uint64_t SearchedMax = 1u << 16;

uint64_t slotOf(uint64_t Address, uint64_t Capacity) {
  uint64_t X = Address >> 4;
  X = (X ^ X >> 32) * 0xd6e8feb86659fd93ull;
  return (X ^ X >> 32) & (Capacity - 1);
}

Object *find(Object *Slots, uint64_t Capacity, uint64_t Address) {
  uint64_t At = slotOf(Address, Capacity);
  while (Slots[At].low && Slots[At].low != Address)
    At = (At + 1) & (Capacity - 1);
  return &Slots[At];
}

bool grow() {
  uint64_t Live = 0;
  for (uint64_t I = 0; I < TheHeap.capacity; ++I)
    Live += TheHeap.slots[I].size != 0;
  uint64_t Capacity = 256;
  while (Capacity < Live * 4)
    Capacity *= 2;
  auto *Slots = (Object *)mapZeroed(Capacity * sizeof(Object));
  if (!Slots)
    return false;
  for (uint64_t I = 0; I < TheHeap.capacity; ++I)
    if (TheHeap.slots[I].size)
      *find(Slots, Capacity, TheHeap.slots[I].low) = TheHeap.slots[I];
  if (TheHeap.slots)
    munmap(TheHeap.slots, TheHeap.capacity * sizeof(Object));
  TheHeap = {Slots, Capacity, Live};
  return true;
}

bool contains(const Object &O, uint64_t Address) { return Address - O.low < O.size; }

} // namespace

void noteAllocation(uint64_t Address, uint64_t Size) {
  if (!Address || !Size)
    return;
  if (TheHeap.used * 2 >= TheHeap.capacity && !grow())
    return;
  Object *Slot = find(TheHeap.slots, TheHeap.capacity, Address);
  TheHeap.used += Slot->low == 0;
  *Slot = {Address, Size};
}

void forgetAllocation(uint64_t Address) {
  if (TheHeap.capacity && Address)
    find(TheHeap.slots, TheHeap.capacity, Address)->size = 0;
}

Object objectAt(uint64_t Address, Object Hint) {
  if (contains(Hint, Address))
    return Hint;
  for (uint64_t I = 0; I < TheHeap.capacity && TheHeap.capacity <= SearchedMax; ++I)
    if (contains(TheHeap.slots[I], Address))
      return TheHeap.slots[I];
  return {0, 0};
}

// ---- Spans

namespace {

constexpr unsigned DepthMax = 12;

uint64_t lowestBit(uint64_t X) { return X & (0 - X); }

// The step of a sum or of a choice: what divides both. 0 stands for a constant.
uint64_t joinSteps(uint64_t A, uint64_t B) { return lowestBit(A | B); }

Span single(int64_t Value) { return {Value, Value, 0}; }

bool fromMask(Label L, Span &Out) {
  uint64_t Mask = meta(L).mask;
  if (Mask >> 62)
    return false;
  Out = {0, (int64_t)Mask, lowestBit(Mask)};
  return true;
}

bool fits(const Span &S, int64_t Low, int64_t High) { return S.low >= Low && S.high <= High; }

bool add(const Span &A, const Span &B, Span &Out) {
  Out.step = joinSteps(A.step, B.step);
  return !__builtin_add_overflow(A.low, B.low, &Out.low) &&
         !__builtin_add_overflow(A.high, B.high, &Out.high);
}

bool scale(const Span &A, int64_t By, Span &Out) {
  if (By <= 0)
    return false;
  Out.step = A.step * lowestBit((uint64_t)By);
  return !__builtin_mul_overflow(A.low, By, &Out.low) &&
         !__builtin_mul_overflow(A.high, By, &Out.high);
}

bool span(Label L, unsigned Depth, Span &Out);

// An operand, whose constant is a signed number of the row's width.
bool side(const sf_row &R, Label L, unsigned Depth, Span &Out) {
  if (L)
    return span(L, Depth, Out);
  Out = single(signExtend(R.k, R.bits));
  return true;
}

bool exact(const sf_row &R, unsigned Depth, Span &Out) {
  Span A, B;
  switch (R.op) {
  case SF_OP_ADD:
    return side(R, R.a, Depth, A) && side(R, R.b, Depth, B) && add(A, B, Out);
  case SF_OP_SUB:
    if (!side(R, R.a, Depth, A) || !side(R, R.b, Depth, B) || B.low == INT64_MIN)
      return false;
    return add(A, {-B.high, -B.low, B.step}, Out);
  case SF_OP_MUL:
    return !R.b && span(R.a, Depth, A) && scale(A, signExtend(R.k, R.bits), Out);
  case SF_OP_SHL:
    return !R.b && R.k < 62 && span(R.a, Depth, A) && scale(A, (int64_t)1 << R.k, Out);
  case SF_OP_CONST:
    Out = single(signExtend(R.k, R.bits));
    return true;
  case SF_OP_ZEXT: {
    unsigned Inner = row(R.a).bits;
    return Inner < 63 && span(R.a, Depth, Out) && fits(Out, 0, (int64_t)maskOf(Inner));
  }
  case SF_OP_SEXT: {
    unsigned Inner = row(R.a).bits;
    const int64_t Half = (int64_t)1 << (Inner - 1);
    if (!span(R.a, Depth, Out) || !fits(Out, -Half, Half - 1))
      Out = {-Half, Half - 1, 1};
    return true;
  }
  case SF_OP_CONCAT: {
    unsigned Low = row(R.b).bits;
    Span Scaled;
    return Low < 62 && span(R.a, Depth, A) && scale(A, (int64_t)1 << Low, Scaled) &&
           span(R.b, Depth, B) && fits(B, 0, (int64_t)maskOf(Low)) && add(Scaled, B, Out);
  }
  case SF_OP_OR:
    if (R.b ? meta(R.a).mask & meta(R.b).mask : meta(R.a).mask & R.k)
      return false;
    return side(R, R.a, Depth, A) && side(R, R.b, Depth, B) && A.low >= 0 && B.low >= 0 &&
           add(A, B, Out);
  case SF_OP_ITE:
    if (!span(R.b, Depth, A) || !span(R.c, Depth, B))
      return false;
    Out.low = A.low < B.low ? A.low : B.low;
    Out.high = A.high > B.high ? A.high : B.high;
    Out.step = joinSteps(joinSteps(A.step, B.step), (uint64_t)A.low - (uint64_t)B.low);
    return true;
  default:
    return false;
  }
}

// Bounded in depth: an address is a short sum.
bool span(Label L, unsigned Depth, Span &Out) {
  return (Depth && exact(row(L), Depth - 1, Out)) || fromMask(L, Out);
}

} // namespace

bool spanOf(Label L, Span &Out) {
  if (!span(L, DepthMax, Out) || Out.low >= Out.high)
    return false;
  if (!Out.step)
    Out.step = 1;
  return true;
}

} // namespace sf
