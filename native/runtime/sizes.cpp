// Sizes that depend on the input.
#include "addresses.h"
#include "shadow.h"

namespace sf {

namespace {

// Bytes on each side of the end that follow the size, and their number in one
// execution.
constexpr uint64_t Reach = 256;
uint64_t SizedBytesLeft = 1u << 16;

struct Ends {
  uint64_t first, end; // of the bytes that follow the size
};

// Which bytes may or may not be written. All must be readable.
bool endsOf(Operand Size, uint64_t To, uint64_t From, Ends &Out) {
  Span S;
  if (!Size.label || meta(Size.label).flags & RowFact || !spanOf(Size.label, S) || S.high <= 0)
    return false;
  uint64_t Low = S.low < 0 ? 0 : (uint64_t)S.low, High = (uint64_t)S.high;
  if (Size.value > High)
    return false;
  Out.first = Size.value > Low + Reach ? Size.value - Reach : Low;
  Out.end = High - Size.value > Reach ? Size.value + Reach : High;
  auto IsReadable = [](uint64_t Start, uint64_t Bytes) {
    for (uint64_t At = Start >> 12; Bytes && At <= (Start + Bytes - 1) >> 12; ++At)
      if (!isReadable(At << 12))
        return false;
    return true;
  };
  while (Out.end > Size.value && !(IsReadable(To, Out.end) && (!From || IsReadable(From, Out.end))))
    Out.end = Size.value + (Out.end - Size.value) / 2;
  if (Out.end <= Out.first || Out.end - Out.first > SizedBytesLeft)
    return false;
  SizedBytesLeft -= Out.end - Out.first;
  return true;
}

// Whether the input's length says what a value is, and none of its bytes.
bool followsLength(Label L) {
  constexpr unsigned RowsMax = 64;
  Label Rows[RowsMax] = {L};
  unsigned Count = 1;
  if (!(meta(L).flags & RowLength))
    return false;
  for (unsigned I = 0; I < Count; ++I) {
    const sf_row &R = row(Rows[I]);
    if (R.op == SF_OP_INPUT || Count + 3 > RowsMax || (R.op > SF_OP_ITE && R.op != SF_OP_BSWAP))
      return false;
    const Label Operands[3] = {R.a, R.b, R.op == SF_OP_ITE ? R.c : 0};
    for (Label Each : Operands)
      if (Each)
        Rows[Count++] = Each;
  }
  return true;
}

// Other sizes than these are not followed.
void limitSize(Operand Size, const Ends &E, Place At) {
  Operand Moved = binary(SF_OP_SUB, 64, Size, constant(E.first));
  Operand Inside = compare(SF_OP_ULE, 64, Moved, constant(E.end - E.first));
  recordGoal(Inside, {At.site, 2});
  recordFact(Inside, {At.site, 2});
}

// A shorter input is another goal. On this path what was copied is there: bytes of
// the input and nothing else, as the models of texts want them.
void requireSize(Operand Size, Place At) {
  Operand Whole = compare(SF_OP_ULE, 64, constant(Size.value), Size);
  recordGoal(Whole, {At.site, 3});
  recordFact(Whole, {At.site, 3});
}

Operand chosen(uint64_t Index, Operand Size, Operand New, Operand Old) {
  if (!New.label && !Old.label && New.value == Old.value)
    return Old;
  return ite(compare(SF_OP_ULT, 64, constant(Index), Size), 8, New, Old);
}

} // namespace

void trySizes(Operand Size, Place At) {
  Span S;
  if (!Size.label || !spanOf(Size.label, S))
    return;
  const unsigned Bits = row(Size.label).bits;
  const uint64_t Ends[2] = {S.low < 0 ? 0 : (uint64_t)S.low, (uint64_t)S.high};
  for (unsigned I = 0; I < 2; ++I)
    if (Ends[I] != Size.value)
      recordGoal(compare(SF_OP_EQ, Bits, Size, constant(Ends[I])), {At.site, (uint16_t)(6 + I)});
}

bool copySized(uint64_t To, uint64_t From, Operand Size, Place At) {
  trySizes(Size, At);
  Ends E;
  if (!endsOf(Size, To, From, E))
    return false;
  static Operand New[2 * Reach], Old[2 * Reach]; // under the table lock
  for (uint64_t I = E.first; I < E.end; ++I) {
    New[I - E.first] = byteAt((const void *)(From + I));
    Old[I - E.first] = byteAt((const void *)(To + I));
  }
  limitSize(Size, E, At);
  copyLabels(To, From, Size.value);
  uint64_t Chosen = E.first;
  if (followsLength(Size.label)) {
    requireSize(Size, At);
    Chosen = Size.value < E.end ? Size.value : E.end;
  }
  for (uint64_t I = Chosen; I < E.end; ++I)
    storeLabel(To + I, 1, chosen(I, Size, New[I - E.first], Old[I - E.first]).label);
  return true;
}

bool fillSized(uint64_t To, Operand Byte, Operand Size, Place At) {
  trySizes(Size, At);
  Ends E;
  if (!endsOf(Size, To, 0, E))
    return false;
  limitSize(Size, E, At);
  for (uint64_t I = 0; I < E.first; ++I)
    storeLabel(To + I, 1, Byte.label);
  for (uint64_t I = E.first; I < E.end; ++I)
    storeLabel(To + I, 1, chosen(I, Size, Byte, byteAt((const void *)(To + I))).label);
  return true;
}

} // namespace sf
