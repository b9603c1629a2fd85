// Reads, writes and jumps at addresses that depend on the input.
#include "addresses.h"
#include "shadow.h"

#include <string.h>

namespace sf {

namespace {

constexpr uint64_t ArrayElementsMax = 4096, ArrayBytesMax = 32768;
constexpr unsigned LabelledElementsMax = 64, TargetsMax = 64;
constexpr uint64_t SpanMax = 1ull << 36;
uint64_t LabelledElementsLeft = 1u << 14; // in one execution

// ---- One byte decides

// Reads the element at each address that one input byte can give.
class TableSnapshot {
public:
  TableSnapshot(const uint64_t *Addresses, unsigned Bytes) : Addresses(Addresses), Bytes(Bytes) {}

  // Returns false if an element has a label or the addresses are too scattered.
  bool take(uint64_t Seen) {
    uint64_t KnownPage = ~0ull;
    bool KnownReadable = false;
    unsigned Probes = 0;
    for (unsigned I = 0; I < 256; ++I) {
      uint64_t First = Addresses[I], Last = First + Bytes - 1;
      const uint64_t Pages[2] = {First >> 12, Last >> 12};
      for (uint64_t Page : Pages) {
        if (Page == KnownPage)
          continue;
        if (++Probes > ProbesMax)
          return false;
        KnownPage = Page;
        KnownReadable = Last >> 47 == 0 && isReadable(Page << 12);
      }
      Readable[I] = KnownReadable && (First >> 12 == Last >> 12 || isReadable(First));
      AllReadable &= Readable[I] != 0;
      if (Readable[I] && !isConcrete(First, Bytes))
        return false;
      readMemory(Elements + I * Bytes, Readable[I] ? First : (uint64_t)&Seen, Bytes);
    }
    return true;
  }

  uint8_t Elements[256 * 8];
  uint8_t Readable[256];
  bool AllReadable = true;

private:
  static constexpr unsigned ProbesMax = 600;
  const uint64_t *Addresses;
  unsigned Bytes;
};

bool readTable(Operand Address, unsigned Bytes, uint64_t Value, Place At, Operand &Out) {
  uint64_t Addresses[256];
  if (!evaluateForEachByte(Address.label, Addresses))
    return false;
  TableSnapshot Table(Addresses, Bytes);
  if (!Table.take(Value))
    return false;
  uint32_t Byte = meta(Address.label).dependence;
  if (!Table.AllReadable)
    recordFact(tableRead(Byte, 8, Table.Readable, 1), At);
  Out = tableRead(Byte, 8 * Bytes, Table.Elements, Value);
  return true;
}

// ---- Several bytes decide

// The elements around the one that was read: First + I * Step for I < Count.
struct Window {
  uint64_t first, count, step;
  unsigned bytes;

  uint64_t at(uint64_t I) const { return first + I * step; }
};

// What can be read of a span without leaving the object, if that is known.
bool windowOf(const Span &S, uint64_t Seen, unsigned Bytes, Object O, Window &W) {
  // What spans more than an index of 32 bits can is no array.
  if ((uint64_t)S.high - (uint64_t)S.low > SpanMax || S.high < 0 || (int64_t)Seen < S.low)
    return false;
  uint64_t Limit = ArrayBytesMax / Bytes;
  Limit = Limit < ArrayElementsMax ? Limit : ArrayElementsMax;
  const uint64_t Step = S.step, Here = (Seen - (uint64_t)S.low) / Step;
  uint64_t Low = 0, High = ((uint64_t)S.high - (uint64_t)S.low) / Step; // both inclusive
  if (O.size >= Bytes && Seen >= O.low && Seen - O.low <= O.size - Bytes) {
    if ((int64_t)O.low > S.low)
      Low = (O.low - (uint64_t)S.low + Step - 1) / Step;
    uint64_t Last = O.low + O.size - Bytes;
    if ((int64_t)Last < S.high)
      High = (Last - (uint64_t)S.low) / Step;
  }
  if (High - Low >= Limit) {
    if (Here - Low > Limit / 2)
      Low = Here - Limit / 2;
    if (High - Low >= Limit)
      High = Low + Limit - 1;
  }
  W = {(uint64_t)S.low + Low * Step, High - Low + 1, Step, Bytes};
  return (Seen - W.first) / Step < W.count;
}

bool isReadableRange(uint64_t First, uint64_t Last) {
  for (uint64_t Page = First >> 12; Page <= Last >> 12; ++Page)
    if (!isReadable(Page << 12))
      return false;
  return true;
}

// Shrinks a window to the readable elements around the one that was read.
void keepReadable(Window &W, uint64_t Seen) {
  auto IsReadable = [&](uint64_t I) { return isReadableRange(W.at(I), W.at(I) + W.bytes - 1); };
  if (isReadableRange(W.first, W.at(W.count - 1) + W.bytes - 1))
    return;
  uint64_t Here = (Seen - W.first) / W.step, Low = Here, High = Here;
  while (Low > 0 && IsReadable(Low - 1))
    --Low;
  while (High + 1 < W.count && IsReadable(High + 1))
    ++High;
  W.first = W.at(Low);
  W.count = High - Low + 1;
}

// Elements with labels become choices around the array; too many of them end
// the window.
bool labelledElements(const Window &W, uint32_t *Which, unsigned &Count) {
  Count = 0;
  if (isConcrete(W.first, (W.count - 1) * W.step + W.bytes))
    return true;
  for (uint64_t I = 0; I < W.count; ++I) {
    if (isConcrete(W.at(I), W.bytes))
      continue;
    if (Count == LabelledElementsMax || Count >= LabelledElementsLeft)
      return false;
    Which[Count++] = (uint32_t)I;
  }
  LabelledElementsLeft -= Count;
  return true;
}

bool readArray(Operand Address, unsigned Bytes, uint64_t Value, Object O, Place At, Operand &Out) {
  Span S;
  Window W;
  if (!spanOf(Address.label, S) || !windowOf(S, Address.value, Bytes, O, W))
    return false;
  keepReadable(W, Address.value);
  uint32_t Labelled[LabelledElementsMax];
  unsigned LabelledCount;
  if (W.count < 2 || !labelledElements(W, Labelled, LabelledCount))
    return false;
  Operand Offset = binary(SF_OP_SUB, 64, Address, constant(W.first));
  Operand Index = binary(SF_OP_UDIV, 64, Offset, constant(W.step));
  if (S.low != (int64_t)W.first || S.high > (int64_t)W.at(W.count - 1)) {
    Operand Inside = compare(SF_OP_ULT, 64, Index, constant(W.count));
    recordGoal(Inside, {At.site, 2});
    recordFact(Inside, {At.site, 2});
  }
  static uint8_t Elements[ArrayBytesMax]; // under the table lock
  for (uint64_t I = 0; I < W.count; ++I)
    readMemory(Elements + I * Bytes, W.at(I), Bytes);
  Out = arrayRead(Index, 8 * Bytes, Elements, W.count, Value);
  for (unsigned I = 0; I < LabelledCount; ++I) {
    uint64_t Element = 0;
    memcpy(&Element, Elements + Labelled[I] * Bytes, Bytes);
    Operand Is = compare(SF_OP_EQ, 64, Index, constant(Labelled[I]));
    Out = ite(Is, 8 * Bytes, loadOperand(W.at(Labelled[I]), Bytes, Element), Out);
  }
  return true;
}

// ---- Boundaries

void tryAddress(Operand Address, uint64_t Wanted, const Span &S, Place At) {
  bool Possible = (int64_t)Wanted >= S.low && (int64_t)Wanted <= S.high &&
                  (Wanted - (uint64_t)S.low) % S.step == 0;
  const bool OfLength = Address.label && meta(Address.label).flags & RowLength;
  if (Possible && Wanted != Address.value && !OfLength)
    recordGoal(compare(SF_OP_EQ, 64, Address, constant(Wanted)), At);
}

// The nearest addresses outside of the object.
void tryOutside(Operand Address, Object O, Place At) {
  Span S;
  if (!O.size || !spanOf(Address.label, S))
    return;
  auto Aligned = [&](uint64_t A) { return A + (((uint64_t)S.low - A) & (S.step - 1)); };
  tryAddress(Address, Aligned(O.low + O.size), S, {At.site, 4});
  tryAddress(Address, Aligned(O.low) - S.step, S, {At.site, 5});
}

// The first and the last address that can be meant.
void tryEnds(Operand Address, unsigned Bytes, Object O, Place At) {
  Span S;
  if (!spanOf(Address.label, S))
    return;
  uint64_t Low = (uint64_t)S.low, High = (uint64_t)S.high;
  if (O.size >= Bytes) {
    uint64_t Last = O.low + O.size - Bytes;
    Low = (int64_t)O.low > S.low ? O.low + (((uint64_t)S.low - O.low) & (S.step - 1)) : Low;
    High = (int64_t)Last < S.high ? Last - ((Last - (uint64_t)S.low) & (S.step - 1)) : High;
  }
  tryAddress(Address, Low, S, {At.site, 6});
  tryAddress(Address, High, S, {At.site, 7});
}

// The distinct values of a pointer that was read from a table or an array, or
// of a field behind it.
void tryTargets(Operand Target, Place At) {
  sf_row R = row(Target.label);
  uint64_t Values[256], Field = 0;
  unsigned Count = 0, Tried = 0;
  if (R.op == SF_OP_ADD && (!R.a || !R.b)) {
    Field = R.k;
    R = row(R.a ? R.a : R.b);
  }
  if (R.op == SF_OP_ARRAY && R.bits == 64) {
    for (; Count < 256 && Count < R.k; ++Count) {
      memcpy(&Values[Count], G.blobs + R.c + 8 * Count, 8);
      Values[Count] += Field;
    }
  } else if (evaluateForEachByte(Target.label, Values)) {
    Count = 256;
  }
  for (unsigned I = 0; I < Count && Tried < TargetsMax; ++I) {
    bool Seen = Values[I] == Target.value;
    for (unsigned J = 0; J < I && !Seen; ++J)
      Seen = Values[J] == Values[I];
    if (Seen)
      continue;
    recordGoal(compare(SF_OP_EQ, 64, Target, constant(Values[I])),
               {At.site, (uint16_t)(8 + Tried)});
    ++Tried;
  }
}

} // namespace

Operand readAt(Operand Address, unsigned Bytes, uint64_t Value, Object Hint, Place At) {
  if (Address.label && !(meta(Address.label).flags & RowFact)) {
    Object O = objectAt(Address.value, Hint);
    tryOutside(Address, O, At);
    Operand Out;
    if (readTable(Address, Bytes, Value, {At.site, 1}, Out) ||
        readArray(Address, Bytes, Value, O, At, Out))
      return Out;
    tryEnds(Address, Bytes, O, At);
    tryTargets(Address, At);
    concretise(Address, At);
  }
  return loadOperand(Address.value, Bytes, Value);
}

void writeAt(Operand Address, unsigned Bytes, Object Hint, Place At) {
  if (!Address.label || meta(Address.label).flags & RowFact)
    return;
  Object O = objectAt(Address.value, Hint);
  tryOutside(Address, O, At);
  tryEnds(Address, Bytes, O, At);
  concretise(Address, At);
}

void jumpTo(Operand Target, Place At) {
  if (!Target.label || meta(Target.label).flags & RowFact)
    return;
  tryTargets(Target, At);
  concretise(Target, At);
}

} // namespace sf
