// Labels of memory: one entry for each byte of a page that holds any.
//
// An entry is a label in the low 29 bits and the byte of its value in the high
// 3, so that storing a number makes no rows and loading it back finds the
// number again.
#ifndef SYMFLEET_RUNTIME_SHADOW_H
#define SYMFLEET_RUNTIME_SHADOW_H

#include "expr.h"

namespace sf {

// Reserves the page table; must run before any instrumented code. Ends the
// process with a message when the address space is refused.
void reserveShadow();

void clearLabels(uint64_t Address, uint64_t Size);
void copyLabels(uint64_t To, uint64_t From, uint64_t Size);
void storeLabel(uint64_t Address, unsigned Bytes, Label L);

// Labels bytes Address.. as input bytes from Offset.
void labelInput(uint64_t Address, uint64_t Offset, uint64_t Size);

// The value of Bytes bytes at Address, which hold Value.
Operand loadOperand(uint64_t Address, unsigned Bytes, uint64_t Value);

// The byte at Address, which must be readable.
Operand byteAt(const void *Address);

// True if the byte at Address, which must be readable, has a label that is true.
bool isLabelled(uint64_t Address);

// True if no byte has a label.
bool isConcrete(uint64_t Address, uint64_t Size);

// Reads the target's memory as it is, past any sanitizer.
void readMemory(void *To, uint64_t From, unsigned Bytes);

// True if the page of Address can be read.
bool isReadable(uint64_t Address);

} // namespace sf

#endif
