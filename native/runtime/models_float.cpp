// Models of the parsing of floating-point numbers.
//
// A number is one function of the text around it: digits make no branches, and a
// text for a wanted number is found by writing that number.
#include "model.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

using namespace sf;

namespace {

// Characters that no number has, whatever the ones around them are.
bool endsNumber(uint8_t C) {
  bool Letter = (C | 0x20) >= 'a' && (C | 0x20) <= 'z';
  bool Space = C == ' ' || (C >= '\t' && C <= '\r');
  bool Digit = C >= '0' && C <= '9';
  return !(Letter || Space || Digit || C == '.' || C == '+' || C == '-' || C == '_' || C == '(' ||
           C == ')');
}

// The text as operands of eight characters each.
class FloatText {
public:
  // Reads as far as a number at Text can go when its bytes change.
  explicit FloatText(const char *Text) {
    bool Terminated = false; // on this input; other bytes may not be 0
    Operand Bytes[SF_TEXT_MAX];
    unsigned Count = 0;
    for (; Count < SF_TEXT_MAX; ++Count) {
      const char *At = Text + Count;
      if (Count && ((uint64_t)At & 0xfff) == 0 && !isReadable((uint64_t)At))
        break;
      Operand Byte = byteAt(At);
      if (!Byte.label && (Terminated || endsNumber((uint8_t)Byte.value)))
        break;
      Terminated |= Byte.value == 0;
      Bytes[Count] = Byte;
    }
    for (unsigned Word = 0; Word * 8 < Count; ++Word) {
      for (unsigned I = Count; I < Word * 8 + 8; ++I)
        Bytes[I] = constant(0);
      Words[Word] = joinBytes(Bytes + Word * 8, 8);
      Widths[Word] = 64;
    }
    Full = Count == SF_TEXT_MAX;
  }

  Operand result(unsigned Bits, uint16_t Aux, uint64_t Value) const {
    return fourOperands(SF_OP_TEXT, Bits, Aux, Words, Widths, Value);
  }
  bool isSymbolic() const {
    return Words[0].label || Words[1].label || Words[2].label || Words[3].label;
  }
  Label any() const { return Words[0].label | Words[1].label | Words[2].label | Words[3].label; }
  // Whether a number of that length is within what was read.
  bool holds(uint64_t Length) const { return Length < SF_TEXT_MAX || !Full; }

private:
  Operand Words[4] = {};
  uint8_t Widths[4] = {};
  bool Full;
};

// Labels of a parsed number and of where it ends. Bits of a long double come in
// two parts.
void parsedFloat(ModelCall &Call, const char *Text, char **End, const char *RealEnd,
                 unsigned Format, const void *Number) {
  KeepErrno Keep;
  TableLock Lock;
  if (!Lock)
    return;
  FloatText Read(Text);
  if (!Read.isSymbolic())
    return;
  const uint64_t Length = (uint64_t)(RealEnd - Text);
  const char *Point = nl_langinfo(RADIXCHAR);
  if (!Read.holds(Length) || !roundsAsUsual(Format == SF_X87) || strcmp(Point, ".") != 0) {
    noteUnmodelled(Read.any(), "a number of another locale, rounding or length");
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
