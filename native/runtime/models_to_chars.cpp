// Models of what std::to_string and std::to_chars of libstdc++ are made of. They
// are templates of its headers, so these do the work themselves.
#include "model.h"
#include "shadow.h"

#include "symfleet/printed_number.h"

using namespace sf;

namespace {

unsigned digitsOf(uint64_t Value, unsigned Base) {
  unsigned Count = 1;
  for (; Value >= Base; Value /= Base)
    ++Count;
  return Count;
}

void lengthTold(ModelCall &Call, uint64_t Value, unsigned Bits, unsigned Base, unsigned Length) {
  KeepErrno Keep;
  TableLock Lock;
  if (!Lock)
    return;
  Operand Number = Call.argument(0, Value);
  if (!Number.label || Base < 2 || Base > 36)
    return;
  Operand Text = textLength(Number, Bits, Base, 0);
  for (unsigned Other = 1; Other <= digitsOf(maskOf(Bits), Base); ++Other)
    if (Other != Length)
      recordGoal(compare(SF_OP_EQ, 8, Text, constant(Other)), Call.at(Other));
  Call.returns(zext(Text, 8, 32).label);
}

void digitsWritten(ModelCall &Call, char *First, unsigned Length, uint64_t Value, unsigned Bits) {
  KeepErrno Keep;
  clearLabels((uint64_t)First, Length);
  TableLock Lock;
  if (!Lock)
    return;
  Operand Number = Call.argument(2, Value);
  if (!Number.label)
    return;
  Operand Text = textLength(Number, Bits, 10, 0);
  recordFact(Text, Call.at(0));
  for (unsigned I = 0; Text.value == Length && I < Length; ++I)
    storeLabel((uint64_t)First + I, 1,
               live(textByte(Number, Bits, 10, 0, I).label, (uint8_t)First[I]));
}

template <typename T> void writeDigits(char *First, unsigned Length, T Value) {
  unsigned At = Length - 1;
  for (; Value >= 10; Value /= 10)
    First[At--] = (char)('0' + Value % 10);
  First[At] = (char)('0' + Value);
}

} // namespace

#define SF_TO_CHARS_MODEL(length, digits, type)                                                    \
  SF_MODEL_API unsigned __sf_model_##length(type Value, int Base) {                                \
    const unsigned Length = digitsOf(Value, (unsigned)Base);                                       \
    if (G.recording) {                                                                             \
      ModelCall Call((const void *)__sf_model_##length, 1);                                        \
      lengthTold(Call, Value, 8 * sizeof(type), (unsigned)Base, Length);                           \
    }                                                                                              \
    return Length;                                                                                 \
  }                                                                                                \
  SF_MODEL_API void __sf_model_##digits(char *First, unsigned Length, type Value) {                \
    writeDigits(First, Length, Value);                                                             \
    if (G.recording) {                                                                             \
      ModelCall Call((const void *)__sf_model_##digits, 3);                                        \
      digitsWritten(Call, First, Length, Value, 8 * sizeof(type));                                 \
    }                                                                                              \
  }
SF_TO_CHARS_MODEL(_ZNSt8__detail14__to_chars_lenIjEEjT_i,
                  _ZNSt8__detail18__to_chars_10_implIjEEvPcjT_, unsigned)
SF_TO_CHARS_MODEL(_ZNSt8__detail14__to_chars_lenImEEjT_i,
                  _ZNSt8__detail18__to_chars_10_implImEEvPcjT_, unsigned long)
SF_TO_CHARS_MODEL(_ZNSt8__detail14__to_chars_lenIyEEjT_i,
                  _ZNSt8__detail18__to_chars_10_implIyEEvPcjT_, unsigned long long)
