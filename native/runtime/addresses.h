// Addresses, sizes and targets that depend on the input.
//
// What can be looked up is modelled (a table, a bounded array); otherwise the
// boundaries are goals of their own, and then the address is made concrete.
#ifndef SYMFLEET_RUNTIME_ADDRESSES_H
#define SYMFLEET_RUNTIME_ADDRESSES_H

#include "events.h"

namespace sf {

// An object in memory; of size 0 if it is not known.
struct Object {
  uint64_t low, size;
};

// The heap, as the models of the allocator see it. Under the table lock.
void noteAllocation(uint64_t Address, uint64_t Size);
void forgetAllocation(uint64_t Address);
// The object that holds the address: Hint, or one of the heap.
Object objectAt(uint64_t Address, Object Hint);

// Values that an expression can have at most, as signed numbers: low, low + step,
// ... high. The step is a power of two.
struct Span {
  int64_t low, high;
  uint64_t step;
};
// Returns false if nothing useful is known.
bool spanOf(Label L, Span &Out);

// What is read at a labelled address.
Operand readAt(Operand Address, unsigned Bytes, uint64_t Value, Object Hint, Place At);
// A write there: boundary tries, then the address is a fact.
void writeAt(Operand Address, unsigned Bytes, Object Hint, Place At);
// A call or a jump: each other target that a table holds is a goal.
void jumpTo(Operand Target, Place At);

// The smallest and the largest value of a size are goals.
void trySizes(Operand Size, Place At);
// A copy or a fill of a labelled size, before it happens: bytes near its end
// depend on the size. Returns false if labels are to move as if it were concrete.
bool copySized(uint64_t To, uint64_t From, Operand Size, Place At);
bool fillSized(uint64_t To, Operand Byte, Operand Size, Place At);

} // namespace sf

#endif
