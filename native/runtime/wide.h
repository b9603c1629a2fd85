// Integers of more than 64 bits as words, lowest first.
//
// Rows have at most 64 bits, so an operation becomes operations on words with
// carries between them. A number is held with whole words; what lies above its
// width is made zero or the sign where it is taken apart and put together.
#ifndef SYMFLEET_RUNTIME_WIDE_H
#define SYMFLEET_RUNTIME_WIDE_H

#include "events.h"

namespace sf {

// Overflow flags and funnel shifts work at twice the width.
inline constexpr unsigned WideWordsMax = 2 * SF_WIDE_WORDS;

struct Wide {
  Operand words[WideWordsMax];
  unsigned count;
};

Wide wideConstant(uint64_t Value, unsigned Count);
// The same number with Count words, of which Bits have been in use.
Wide wideZext(const Wide &A, unsigned Bits, unsigned Count);
Wide wideSext(const Wide &A, unsigned Bits, unsigned Count);

Wide wideBitwise(sf_op Op, const Wide &A, const Wide &B);
Wide wideAdd(const Wide &A, const Wide &B);
Wide wideSubtract(const Wide &A, const Wide &B);
Wide wideMultiply(const Wide &A, const Wide &B);
// Op is SF_OP_SHL, SF_OP_LSHR or SF_OP_ASHR (the sign is that of the top word).
Wide wideShift(sf_op Op, const Wide &A, Operand Amount);
// Quotient and remainder; high words of a divisor are made concrete.
void wideDivide(const Wide &A, Wide By, Place At, Wide &Quotient, Wide &Remainder);
Operand wideEqual(const Wide &A, const Wide &B);
Operand wideLess(const Wide &A, const Wide &B, bool Signed);
Wide wideChoose(Operand Condition, const Wide &Then, const Wide &Else);

} // namespace sf

#endif
