// Expressions over input bytes, in canonical form.
//
// Each function returns what the operation gives: a label, or label 0 when the
// result does not depend on the input. Rows are simplified where they are made:
// bytes that were read one by one and put together again are one input row,
// widening moves outward, comparisons lose what their operands have in common.
// The solver sees few and simple shapes.
#ifndef SYMFLEET_RUNTIME_EXPR_H
#define SYMFLEET_RUNTIME_EXPR_H

#include "state.h"

namespace sf {

// An operand: its concrete value, and its label unless it is a constant.
struct Operand {
  Label label;
  uint64_t value; // the low bits only, the others zero
};

inline Operand constant(uint64_t Value) { return {0, Value}; }

// Gives the label back if its row had this value in this run, else 0.
inline Label live(Label L, uint64_t Value) { return L && meta(L).value == Value ? L : 0; }
inline Operand operand(Label L, uint64_t Value) { return {live(L, Value), Value}; }
inline Operand known(Label L) { return {L, L ? meta(L).value : 0}; }

Operand inputBytes(uint64_t Offset, unsigned Bits, uint64_t Value);
// A byte of the input that the program has read; label 0 if it has not.
Operand inputByteRead(uint64_t Offset);
Operand binary(sf_op Op, unsigned Bits, Operand A, Operand B);
// Comparisons and overflow flags; Bits is the width of the operands.
Operand compare(sf_op Op, unsigned Bits, Operand A, Operand B);
Operand zext(Operand A, unsigned From, unsigned To);
Operand sext(Operand A, unsigned From, unsigned To);
Operand extract(Operand A, unsigned From, unsigned Low, unsigned Bits);
Operand concat(Operand High, unsigned HighBits, Operand Low, unsigned LowBits);
Operand ite(Operand Condition, unsigned Bits, Operand Then, Operand Else);
Operand unary(sf_op Op, unsigned Bits, Operand A); // bswap, ctpop, ctlz, cttz
// Bytes in memory order, each of 8 bits, as one value.
Operand joinBytes(const Operand *Bytes, unsigned Count);
// Element (input byte) of a snapshot of 256 elements.
Operand tableRead(uint32_t InputByte, unsigned Bits, const void *Elements, uint64_t Value);
// Element Index of a snapshot of Count elements.
Operand arrayRead(Operand Index, unsigned Bits, const void *Elements, uint64_t Count,
                  uint64_t Value);
Operand logicalNot(Operand Bit);
// A constant where only labels may stand; label 0 when the table is full.
Operand constantRow(uint64_t Value, unsigned Bits);
// A row of SF_OP_FLOAT or SF_OP_TEXT with that value; operands end where a width is 0.
Operand fourOperands(sf_op Op, unsigned Bits, uint16_t Aux, const Operand Operands[4],
                     const uint8_t Widths[4], uint64_t Value);
// A floating-point number as the integer that it is for sure, of 64 bits; its
// magnitude is at most two to the power of `bits`.
struct WholeNumber {
  Operand value;
  unsigned bits;
};
bool asWholeNumber(Operand A, unsigned Format, WholeNumber &Out);
// Whether this thread rounds to nearest and keeps subnormal numbers, as the
// executor does.
bool roundsAsUsual(bool IsX87);
// Counts an operation without a row, if its operands have labels. Where lives as
// long as the program: a constant that tells of the place or the reason.
void noteUnmodelled(Label Any, const char *Where);
// The same for who holds the table lock: taken twice, it is not had.
void noteUnmodelledLocked(Label Any, const char *Where);
// Counts it for its place alone.
void noteLoss(const char *Where);
// (High above Low) divided by By: SF_OP_UDIVW or SF_OP_UREMW.
Operand divideDouble(sf_op Op, unsigned Bits, Operand High, Operand Low, Operand By);

// Tells whether c is a label.
constexpr bool isTernary(unsigned Op) {
  return Op == SF_OP_ITE || Op == SF_OP_UDIVW || Op == SF_OP_UREMW;
}
// Character Index of the text that printf makes of a number, and its length.
Operand textByte(Operand A, unsigned Bits, uint32_t Format, uint64_t Suffix, unsigned Index);
Operand textLength(Operand A, unsigned Bits, uint32_t Format, uint64_t Suffix);

// The value of an operation on values (eval.cpp).
uint64_t evaluate(sf_op Op, unsigned Bits, unsigned Aux, uint64_t A, uint64_t B, uint64_t C,
                  unsigned WidthA, unsigned WidthB);

// Evaluates a label that depends on one input byte for all values of that byte.
// Returns false if it depends on more, or is too large.
bool evaluateForEachByte(Label L, uint64_t Values[256]);

} // namespace sf

#endif
