#include "float_text.h"

#include <langinfo.h>
#include <string.h>

namespace sf {

namespace {

// Characters that no number has, whatever the ones around them are.
bool endsNumber(uint8_t C) {
  bool Letter = (C | 0x20) >= 'a' && (C | 0x20) <= 'z';
  bool Digit = C >= '0' && C <= '9';
  return !(Letter || isSpaceByte(C) || Digit || C == '.' || C == '+' || C == '-' || C == '_' ||
           C == '(' || C == ')');
}

} // namespace

FloatText FloatText::inMemory(const char *Text) {
  FloatText Out;
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
  Out.join(Bytes, Count);
  Out.Full = Count == SF_TEXT_MAX;
  return Out;
}

FloatText FloatText::within(const Source &From, uint64_t Start, uint64_t Width) {
  FloatText Out;
  Operand Bytes[SF_TEXT_MAX];
  unsigned Count = 0;
  for (; Count < SF_TEXT_MAX && Count < Width && From.isKnown(Start + Count); ++Count) {
    Operand Byte = From.operand(Start + Count);
    if (!Byte.label && endsNumber((uint8_t)Byte.value))
      break;
    Bytes[Count] = Byte;
  }
  Out.join(Bytes, Count);
  Out.Full = Count == SF_TEXT_MAX && Width > SF_TEXT_MAX;
  return Out;
}

void FloatText::join(Operand *Bytes, unsigned Count) {
  for (unsigned Word = 0; Word * 8 < Count; ++Word) {
    for (unsigned I = Count; I < Word * 8 + 8; ++I)
      Bytes[I] = constant(0);
    Words[Word] = joinBytes(Bytes + Word * 8, 8);
    Widths[Word] = 64;
  }
}

void FloatText::copy(char *To) const {
  for (unsigned Word = 0; Word < 4; ++Word)
    memcpy(To + 8 * Word, &Words[Word].value, 8);
  To[SF_TEXT_MAX] = 0;
}

bool readsNumbersAsUsual(unsigned Format) {
  return roundsAsUsual(Format == SF_X87) && strcmp(nl_langinfo(RADIXCHAR), ".") == 0;
}

} // namespace sf
