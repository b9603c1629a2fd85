// Models of the parsing of floating-point numbers.
#include "float_text.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>

using namespace sf;

namespace {

// Labels of a parsed number and of where it ends. Bits of a long double come in
// two parts.
void parsedFloat(ModelCall &Call, const char *Text, char **End, const char *RealEnd,
                 unsigned Format, const void *Number) {
  KeepErrno Keep;
  TableLock Lock;
  if (!Lock)
    return;
  const FloatText Read = FloatText::inMemory(Text);
  if (!Read.isSymbolic())
    return;
  const uint64_t Length = (uint64_t)(RealEnd - Text);
  if (!Read.holds(Length) || !readsNumbersAsUsual(Format)) {
    noteUnmodelledLocked(Read.any(), "a number of another locale, rounding or length");
    return;
  }
  uint64_t Low = 0, High = 0;
  memcpy(&Low, Number, Format == SF_SINGLE ? 4 : 8);
  if (Format == SF_X87)
    memcpy(&High, (const char *)Number + 8, 2);
  const unsigned Bits = Format == SF_SINGLE ? 32 : 64;
  Call.returns(Read.result(Bits, SF_FLOAT_AUX(SF_TEXT_NUMBER, 0, Format, 0), Low).label);
  if (Format == SF_X87)
    Call.alsoReturns(Read.result(16, SF_FLOAT_AUX(SF_TEXT_NUMBER, 0, Format, 1), High).label);
  if (End) {
    Operand Size = Read.result(64, SF_FLOAT_AUX(SF_TEXT_LENGTH, 0, Format, 0), Length);
    storeLabel((uint64_t)End, 8, binary(SF_OP_ADD, 64, Size, constant((uint64_t)Text)).label);
  }
}

} // namespace

#define SF_PARSE_FLOAT(type, name, format)                                                         \
  SF_MODEL_API type __sf_model_##name(const char *Text, char **End) {                              \
    if (!G.recording)                                                                              \
      return name(Text, End);                                                                      \
    char *RealEnd;                                                                                 \
    type Result = name(Text, &RealEnd);                                                            \
    if (End) {                                                                                     \
      *End = RealEnd;                                                                              \
      clearLabels((uint64_t)End, sizeof(char *));                                                  \
    }                                                                                              \
    ModelCall Call((const void *)__sf_model_##name, 0);                                            \
    parsedFloat(Call, Text, End, RealEnd, format, &Result);                                        \
    return Result;                                                                                 \
  }
SF_PARSE_FLOAT(float, strtof, SF_SINGLE)
SF_PARSE_FLOAT(double, strtod, SF_DOUBLE)
SF_PARSE_FLOAT(long double, strtold, SF_X87)

SF_MODEL_API double __sf_model_atof(const char *Text) {
  if (!G.recording)
    return atof(Text);
  char *RealEnd;
  double Result = strtod(Text, &RealEnd);
  ModelCall Call((const void *)__sf_model_atof, 0);
  parsedFloat(Call, Text, nullptr, RealEnd, SF_DOUBLE, &Result);
  return Result;
}
