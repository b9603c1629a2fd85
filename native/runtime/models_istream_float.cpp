// Models of std::istream >> float, double and long double.
#include "float_text.h"
#include "istream_text.h"
#include "model.h"

#include "symfleet/streamed_number.h"

#include <string.h>

using namespace sf;

namespace {

struct FloatVariable {
  void *at;
  unsigned format;
};

// Where there is no number, what the stream has taken is known.
void noFloatRead(const Source &From, uint64_t Start, const char *Characters, Place At) {
  const uint64_t Taken = sf_streamed_characters(Characters);
  for (uint64_t I = 0; I < Taken && From.isKnown(Start + I); ++I)
    recordFact(From.operand(Start + I), At);
}

void labelPart(const FloatVariable &To, const FloatText &Read, bool High, unsigned Bytes) {
  uint64_t Bits = 0;
  char *At = (char *)To.at + 8 * High;
  readMemory(&Bits, (uint64_t)At, Bytes);
  const uint16_t Aux = SF_FLOAT_AUX(SF_TEXT_STREAMED_NUMBER, 0, To.format, High);
  storeLabel((uint64_t)At, Bytes, Read.result(8 * Bytes, Aux, Bits).label);
}

void floatRead(const ModelCall &Call, const StreamText &Before, bool Succeeded,
               const FloatVariable &To) {
  KeepErrno Keep;
  uint8_t Room[Source::FileBytesMax];
  const unsigned Bytes = To.format == SF_SINGLE ? 4 : 8;
  clearLabels((uint64_t)To.at, To.format == SF_X87 ? sizeof(long double) : Bytes);
  if (!Before.isKnown())
    return;
  const Source From = Before.source(Room);
  Before.noteRead(From);
  TableLock Lock;
  if (!Lock)
    return;
  Place At = Call.at(0);
  const uint64_t Start = Before.skipsSpace() ? skipSpace(From, 0, At) : 0;
  const FloatText Read = FloatText::within(From, Start, TextBytesMax);
  if (!Read.isSymbolic())
    return;
  char Characters[SF_TEXT_MAX + 1];
  long double Number = 0;
  Read.copy(Characters);
  const uint64_t Length = sf_streamed_number(Characters, To.format, &Number);
  const bool IsAsUsual = Read.holds(Length) && readsNumbersAsUsual(To.format);
  if (!IsAsUsual || Succeeded != (Length != 0) ||
      (Length && memcmp(&Number, To.at, To.format == SF_X87 ? 10 : Bytes) != 0)) {
    noteUnmodelledLocked(Read.any(), "a number of another locale, rounding or length");
    return;
  }
  const Operand Size =
      Read.result(64, SF_FLOAT_AUX(SF_TEXT_STREAMED_LENGTH, 0, To.format, 0), Length);
  recordBranch(compare(SF_OP_NE, 64, Size, constant(0)), Call.at(1));
  if (!Length) {
    noFloatRead(From, Start, Characters, Call.at(2));
    return;
  }
  recordGoal(compare(SF_OP_EQ, 64, Size, constant(Length)), Call.at(2));
  recordFact(Size, Call.at(2));
  labelPart(To, Read, false, Bytes);
  if (To.format == SF_X87)
    labelPart(To, Read, true, 2);
}

} // namespace

#define SF_STREAM_FLOAT(name, type, format)                                                        \
  SF_STREAM_TAKES(name, type, floatRead(Call, Before, !failedOf(Stream), {To, format}))
SF_STREAM_FLOAT(_ZNSirsERf, float, SF_SINGLE)
SF_STREAM_FLOAT(_ZNSirsERd, double, SF_DOUBLE)
SF_STREAM_FLOAT(_ZNSirsERe, long double, SF_X87)
SF_STREAM_FLOAT(_ZNSi10_M_extractIfEERSiRT_, float, SF_SINGLE)
SF_STREAM_FLOAT(_ZNSi10_M_extractIdEERSiRT_, double, SF_DOUBLE)
SF_STREAM_FLOAT(_ZNSi10_M_extractIeEERSiRT_, long double, SF_X87)
