// Rows of floating-point operations.
//
// Nothing is computed here: the program says what came out. So its exception
// flags stay as they are, and no mathematical library is needed.
#include "expr.h"

using namespace sf;

namespace {

bool usesX87(uint16_t Aux) { return SF_FLOAT_FROM(Aux) == SF_X87 || SF_FLOAT_TO(Aux) == SF_X87; }

// Compares and conversions of whole numbers, as those of integers.
bool onWholeNumbers(uint16_t Aux, unsigned Bits, Operand A, Operand B, Operand &Out) {
  const unsigned Function = SF_FLOAT_FUNCTION(Aux), Format = SF_FLOAT_FROM(Aux);
  WholeNumber X, Y;
  bool Compares = Function >= SF_FN_EQ && Function <= SF_FN_UNO;
  bool Converts = Function == SF_FN_TO_SINT || Function == SF_FN_TO_UINT;
  if ((!Compares && !Converts) || !asWholeNumber(A, Format, X))
    return false;
  if (Converts) {
    bool Signed = Function == SF_FN_TO_SINT;
    bool NotNegative = !X.value.label ? !(X.value.value >> 63) : !(meta(X.value.label).mask >> 63);
    if (X.bits + (Signed ? 1 : 0) > Bits || (!Signed && !NotNegative))
      return false;
    Out = extract(X.value, 64, 0, Bits);
    return true;
  }
  if (!asWholeNumber(B, Format, Y))
    return false;
  Out = Function == SF_FN_UNO ? constant(0)
                              : compare(Function == SF_FN_EQ   ? SF_OP_EQ
                                        : Function == SF_FN_NE ? SF_OP_NE
                                        : Function == SF_FN_LT ? SF_OP_SLT
                                                               : SF_OP_SLE,
                                        64, X.value, Y.value);
  return true;
}

} // namespace

namespace sf {

bool roundsAsUsual(bool IsX87) {
  if (IsX87) {
    uint16_t Control;
    __asm__ volatile("fnstcw %0" : "=m"(Control));
    return (Control & 0x0f00) == 0x0300; // to nearest, 64 bits of precision
  }
  uint32_t Control;
  __asm__ volatile("stmxcsr %0" : "=m"(Control));
  return (Control & 0xe040) == 0; // to nearest, nothing flushed to zero
}

Operand fourOperands(sf_op Op, unsigned Bits, uint16_t Aux, const Operand Operands[4],
                     const uint8_t Widths[4], uint64_t Value) {
  Label Labels[4] = {};
  Label Any = 0;
  for (unsigned I = 0; I < 4; ++I)
    Any |= Operands[I].label;
  if (!Any)
    return constant(Value);
  for (unsigned I = 0; I < 4 && Widths[I]; ++I) {
    Labels[I] =
        Operands[I].label ? Operands[I].label : constantRow(Operands[I].value, Widths[I]).label;
    if (!Labels[I])
      return constant(Value); // the table is full
  }
  sf_row R{};
  R.op = (uint8_t)Op;
  R.bits = (uint8_t)Bits;
  R.aux = Aux;
  R.a = Labels[0];
  R.b = Labels[1];
  R.c = Labels[2];
  R.k = Labels[3];
  // Not evaluated in the target, whatever it depends on.
  return {internRow(R, Meta{Value, maskOf(Bits), DependsOnMany, 0}), Value};
}

} // namespace sf

// Packed: aux | width of the result << 16; Widths: 8 bits for each operand.
SF_API Label __sf_float(uint32_t Packed, uint32_t Widths, Label LA, Label LB, Label LC, Label LD,
                        uint64_t A, uint64_t B, uint64_t C, uint64_t D, uint64_t Result) {
  if (!(LA | LB | LC | LD))
    return 0;
  if (!roundsAsUsual(usesX87((uint16_t)Packed))) {
    noteUnmodelled(LA | LB | LC | LD, "floating point that rounds otherwise");
    return 0;
  }
  TableLock Lock;
  if (!Lock)
    return 0;
  const Operand Operands[4] = {operand(LA, A), operand(LB, B), operand(LC, C), operand(LD, D)};
  Operand Whole;
  if (onWholeNumbers((uint16_t)Packed, Packed >> 16, Operands[0], Operands[1], Whole))
    return Whole.label;
  uint8_t Each[4];
  for (unsigned I = 0; I < 4; ++I)
    Each[I] = (uint8_t)(Widths >> (8 * I));
  return fourOperands(SF_OP_FLOAT, Packed >> 16, (uint16_t)Packed, Operands, Each, Result).label;
}
