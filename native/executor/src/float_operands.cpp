#include "float_operands.h"
#include "float_formats.h"

namespace sf {

unsigned floatArity(unsigned function) {
  switch (function) {
  case SF_FN_FMA:
    return 3;
  case SF_FN_ADD:
  case SF_FN_SUB:
  case SF_FN_MUL:
  case SF_FN_DIV:
  case SF_FN_REM:
  case SF_FN_MIN:
  case SF_FN_MAX:
  case SF_FN_MINIMUM:
  case SF_FN_MAXIMUM:
  case SF_FN_LDEXP:
  case SF_FN_EQ:
  case SF_FN_LT:
  case SF_FN_LE:
  case SF_FN_NE:
  case SF_FN_UNO:
  case SF_FN_CLASS:
    return 2;
  default:
    if (function >= SF_FN_POW && function <= SF_FN_REMAINDER)
      return 2;
    bool known = (function >= SF_FN_SQRT && function <= SF_FN_ROUND) ||
                 (function >= SF_FN_SIN && function <= SF_FN_LGAMMA) || function == SF_FN_FREXP ||
                 function == SF_FN_FRACTION ||
                 (function >= SF_FN_FROM_SINT && function <= SF_FN_EXPONENT);
    return known ? 1 : 0;
  }
}

bool givesNumber(unsigned function) {
  return function < SF_FN_EQ || (function >= SF_FN_FROM_SINT && function <= SF_FN_CONVERT);
}

unsigned floatOperandWidth(uint16_t aux, unsigned i) {
  const unsigned function = SF_FLOAT_FUNCTION(aux), format = SF_FLOAT_FROM(aux);
  const unsigned arity = floatArity(function);
  if (takesInteger(function))
    return i == 0 ? 64 : 0;
  if (format == SF_X87 && arity == 3)
    return 0;
  const unsigned parts = format == SF_X87 ? 2 : 1;
  bool integerSecond = function == SF_FN_LDEXP || function == SF_FN_CLASS;
  if (integerSecond && i >= parts)
    return i == parts ? 32 : 0;
  if (i >= arity * parts)
    return 0;
  return parts == 1 ? widthOfFormat(format) : i % 2 ? 16 : 64;
}

static unsigned partWidth(uint16_t aux) {
  if (SF_FLOAT_TO(aux) == SF_X87)
    return SF_FLOAT_HIGH(aux) ? 16 : 64;
  return SF_FLOAT_HIGH(aux) ? 0 : widthOfFormat(SF_FLOAT_TO(aux));
}

bool floatWidthFits(uint16_t aux, unsigned bits) {
  const unsigned function = SF_FLOAT_FUNCTION(aux);
  if (floatOperandWidth(aux, 0) == 0)
    return false;
  if (givesNumber(function)) {
    bool converts = takesInteger(function) || function == SF_FN_CONVERT;
    return bits == partWidth(aux) && (converts || SF_FLOAT_FROM(aux) == SF_FLOAT_TO(aux));
  }
  return function >= SF_FN_TO_SINT ? bits >= 1 && bits <= 64 : bits == 1;
}

bool textWidthFits(uint16_t aux, unsigned bits) {
  const unsigned result = SF_FLOAT_FUNCTION(aux);
  if (result > SF_TEXT_STREAMED_LENGTH || SF_FLOAT_TO(aux) == SF_HALF)
    return false;
  return bits == (SF_TEXT_IS_LENGTH(result) ? 64 : partWidth(aux));
}

} // namespace sf
