// What the parts of expr.h share: how a row is finished, and what is asked of its operands.
#ifndef SYMFLEET_RUNTIME_EXPR_ROW_H
#define SYMFLEET_RUNTIME_EXPR_ROW_H

#include "expr.h"

namespace sf {

// The bits that may be set in some run.
inline uint64_t bitsOf(const Operand &A) { return A.label ? meta(A.label).mask : A.value; }

inline uint32_t dependenceOf(Label L) { return L ? meta(L).dependence : DependsOnNothing; }

inline bool isOp(const Operand &A, sf_op Op) { return A.label && row(A.label).op == Op; }

// Finishes a row: an operand without label is the constant k.
Operand make(sf_op Op, unsigned Bits, unsigned Aux, Operand A, Operand B, Operand C, uint64_t Value,
             uint64_t Mask);

inline bool commutes(sf_op Op) {
  return Op == SF_OP_ADD || Op == SF_OP_MUL || Op == SF_OP_AND || Op == SF_OP_OR ||
         Op == SF_OP_XOR || Op == SF_OP_EQ || Op == SF_OP_NE || Op == SF_OP_UADDO ||
         Op == SF_OP_SADDO || Op == SF_OP_UMULO || Op == SF_OP_SMULO || Op == SF_OP_UMULH;
}

inline void swap(Operand &A, Operand &B) {
  Operand T = A;
  A = B;
  B = T;
}

// Whether no byte has bits of both masks.
bool bytewiseDisjoint(uint64_t A, uint64_t B);
// Joins two values with such masks.
Operand joinDisjoint(Operand A, Operand B, unsigned Bits);

} // namespace sf

#endif
