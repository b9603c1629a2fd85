// Creation of rows: constants, input bytes, choices, reads of tables, texts of numbers.
#include "expr_row.h"

#include "symfleet/printed_number.h"

#include <string.h>

namespace sf {

namespace {

uint32_t joinDependence(uint32_t A, uint32_t B) {
  if (A == DependsOnNothing || A == B)
    return B;
  return B == DependsOnNothing ? A : DependsOnMany;
}

} // namespace

Operand make(sf_op Op, unsigned Bits, unsigned Aux, Operand A, Operand B, Operand C, uint64_t Value,
             uint64_t Mask) {
  sf_row R{};
  R.op = (uint8_t)Op;
  R.bits = (uint8_t)Bits;
  R.aux = (uint16_t)Aux;
  R.a = A.label;
  R.b = B.label;
  R.c = C.label;
  bool Binary = (Op >= SF_OP_ADD && Op <= SF_OP_SLE) || (Op >= SF_OP_UADDO && Op <= SF_OP_SMULO) ||
                Op == SF_OP_UMULH;
  if (Binary)
    R.k = A.label ? (B.label ? 0 : B.value) : A.value;
  Meta M{Value, Mask & maskOf(Bits), 0, 0};
  M.dependence = joinDependence(joinDependence(dependenceOf(A.label), dependenceOf(B.label)),
                                dependenceOf(C.label));
  const Label Operands[] = {A.label, B.label, C.label};
  for (Label L : Operands)
    M.flags |= L ? meta(L).flags & RowLength : 0;
  return {internRow(R, M), Value};
}

Operand constantRow(uint64_t Value, unsigned Bits) {
  sf_row R{};
  R.op = SF_OP_CONST;
  R.bits = (uint8_t)Bits;
  R.k = Value;
  return {internRow(R, Meta{Value, Value, DependsOnNothing, 0}), Value};
}

Operand inputBytes(uint64_t Offset, unsigned Bits, uint64_t Value) {
  sf_row R{};
  R.op = SF_OP_INPUT;
  R.bits = (uint8_t)Bits;
  R.k = Offset;
  uint32_t Dependence = Bits == 8 && Offset < DependsOnMany ? (uint32_t)Offset : DependsOnMany;
  return {internRow(R, Meta{Value, maskOf(Bits), Dependence, 0}), Value};
}

Operand inputByteRead(uint64_t Offset) {
  sf_row R{};
  R.op = SF_OP_INPUT;
  R.bits = 8;
  R.k = Offset;
  return known(findRow(R));
}

Operand ite(Operand Condition, unsigned Bits, Operand Then, Operand Else) {
  const uint64_t Value = Condition.value ? Then.value : Else.value;
  if (!Condition.label)
    return Condition.value ? Then : Else;
  if (Then.label == Else.label && Then.value == Else.value)
    return Then;
  if (Bits == 1) {
    if (!Then.label)
      return Then.value ? binary(SF_OP_OR, 1, Condition, Else)
                        : binary(SF_OP_AND, 1, logicalNot(Condition), Else);
    if (!Else.label)
      return Else.value ? binary(SF_OP_OR, 1, logicalNot(Condition), Then)
                        : binary(SF_OP_AND, 1, Condition, Then);
  }
  if (!Then.label && !Else.label && Then.value == 1 && Else.value == 0)
    return zext(Condition, 1, Bits);
  uint64_t Mask = bitsOf(Then) | bitsOf(Else);
  Operand T = Then.label ? Then : constantRow(Then.value, Bits);
  Operand E = Else.label ? Else : constantRow(Else.value, Bits);
  if (!T.label || !E.label)
    return constant(Value);
  return make(SF_OP_ITE, Bits, 0, Condition, T, E, Value, Mask);
}

Operand unary(sf_op Op, unsigned Bits, Operand A) {
  const uint64_t Value = evaluate(Op, Bits, 0, A.value, 0, 0, Bits, Bits);
  if (!A.label)
    return constant(Value);
  if ((Op == SF_OP_BSWAP || Op == SF_OP_BITREVERSE) && isOp(A, Op))
    return known(row(A.label).a);
  uint64_t Mask = ~0ull;
  if (Op == SF_OP_BSWAP)
    Mask = __builtin_bswap64(meta(A.label).mask) >> (64 - Bits);
  else if (Op == SF_OP_BITREVERSE)
    Mask = evaluate(Op, Bits, 0, meta(A.label).mask, 0, 0, Bits, Bits);
  else
    Mask = 0x7f;
  return make(Op, Bits, 0, A, {}, {}, Value, Mask);
}

Operand divideDouble(sf_op Op, unsigned Bits, Operand High, Operand Low, Operand By) {
  if (!High.label && High.value == 0) {
    sf_op Plain = Op == SF_OP_UDIVW ? SF_OP_UDIV : SF_OP_UREM;
    return binary(Plain, Bits, Low, By);
  }
  const uint64_t Value = evaluate(Op, Bits, 0, High.value, Low.value, By.value, Bits, Bits);
  if (!High.label && !Low.label && !By.label)
    return constant(Value);
  Operand All[3] = {High, Low, By};
  for (Operand &Each : All)
    if (!Each.label && !(Each = constantRow(Each.value, Bits)).label)
      return constant(Value);
  return make(Op, Bits, 0, All[0], All[1], All[2], Value, ~0ull);
}

Operand arrayRead(Operand Index, unsigned Bits, const void *Elements, uint64_t Count,
                  uint64_t Value) {
  if (!Index.label)
    return constant(Value);
  const unsigned Bytes = Bits / 8;
  uint64_t Mask = 0;
  bool Same = true;
  for (uint64_t I = 0; I < Count; ++I) {
    uint64_t Element = 0;
    memcpy(&Element, (const char *)Elements + I * Bytes, Bytes);
    Mask |= Element;
    Same &= Element == Value;
  }
  uint32_t Offset;
  if (Same || !internBlob(Elements, (uint32_t)Count * Bytes, Offset))
    return constant(Value);
  sf_row R{};
  R.op = SF_OP_ARRAY;
  R.bits = (uint8_t)Bits;
  R.a = Index.label;
  R.c = Offset;
  R.k = Count;
  return {internRow(R, Meta{Value, Mask, dependenceOf(Index.label), 0}), Value};
}

Operand tableRead(uint32_t InputByte, unsigned Bits, const void *Elements, uint64_t Value) {
  Operand Index = inputBytes(InputByte, 8, 0);
  if (!Index.label)
    return constant(Value);
  const unsigned Bytes = Bits / 8;
  uint64_t Mask = 0;
  bool Same = true;
  for (unsigned I = 0; I < 256; ++I) {
    uint64_t Element = 0;
    memcpy(&Element, (const char *)Elements + I * Bytes, Bytes);
    Mask |= Element;
    Same &= Element == Value;
  }
  uint32_t Offset;
  if (Same || !internBlob(Elements, 256 * Bytes, Offset))
    return constant(Value);
  sf_row R{};
  R.op = SF_OP_TABLE;
  R.bits = (uint8_t)Bits;
  R.a = Index.label;
  R.c = Offset;
  return {internRow(R, Meta{Value, Mask, InputByte, 0}), Value};
}

static Operand textRow(sf_op Op, unsigned Bits, Operand A, uint32_t Format, uint64_t Suffix,
                       unsigned Index, uint64_t Value) {
  sf_row R{};
  R.op = (uint8_t)Op;
  R.bits = (uint8_t)Bits;
  R.aux = (uint16_t)Index;
  R.a = A.label;
  R.c = Format;
  R.k = Suffix;
  return {internRow(R, Meta{Value, maskOf(Bits), dependenceOf(A.label), 0}), Value};
}

Operand textByte(Operand A, unsigned Bits, uint32_t Format, uint64_t Suffix, unsigned Index) {
  const uint64_t Value = sf_printed_number_at(A.value, Bits, Format, Suffix, Index);
  return A.label ? textRow(SF_OP_PRINTED, 8, A, Format, Suffix, Index, Value) : constant(Value);
}

Operand textLength(Operand A, unsigned Bits, uint32_t Format, uint64_t Suffix) {
  const uint64_t Value = sf_printed_number(A.value, Bits, Format, Suffix).size;
  return A.label ? textRow(SF_OP_PRINTED_SIZE, 8, A, Format, Suffix, 0, Value) : constant(Value);
}

} // namespace sf
