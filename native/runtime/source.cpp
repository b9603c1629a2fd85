#include "source.h"

#include "model.h"

#include <string.h>
#include <unistd.h>

namespace sf {

Source Source::string(const char *S) {
  Source Out = memory(S, strlen(S) + 1);
  Out.EndsInNul = true;
  return Out;
}

Source Source::memory(const void *At, uint64_t Size) {
  Source Out;
  Out.Bytes = (const uint8_t *)At;
  Out.Size = Size;
  return Out;
}

Source Source::file(int Fd, uint64_t Offset, uint8_t *Room) {
  Source Out = memory(Room, 0);
  ssize_t Got = pread(Fd, Room, FileBytesMax, (off_t)Offset);
  Out.Size = Got > 0 ? (uint64_t)Got : 0;
  Out.Offset = Offset;
  Out.FromFile = true;
  return Out;
}

Text Source::from(uint64_t I, uint64_t Width) const {
  Text Out;
  for (uint64_t End = I + Width; I < End && isKnown(I); ++I) {
    if (Out.count == TextBytesMax) {
      Out.cut = true;
      return Out;
    }
    Out.add(operand(I));
    if (EndsInNul && byte(I) == 0)
      break;
  }
  return Out;
}

uint64_t skipSpace(const Source &From, uint64_t Start, Place &At) {
  uint64_t I = Start;
  for (; From.isKnown(I); ++I) {
    recordBranch(spaceBit(From.operand(I)), At);
    ++At.ordinal;
    if (!isSpaceByte(From.byte(I)))
      break;
  }
  return I;
}

Operand memberBit(Operand Byte, uint64_t (*Has)(uint64_t Byte, const void *), const void *Context,
                  Place At) {
  Operand Bit = compare(SF_OP_NE, 8, mapThroughTable(Byte, 8, Has, Context), constant(0));
  if (!Bit.label && Byte.label && meta(Byte.label).dependence == DependsOnMany)
    recordFact(Byte, At);
  return Bit;
}

void recordShape(Operand Condition, Place &At) {
  recordGoal(Condition, At);
  recordFact(Condition, At);
  ++At.ordinal;
}

void labelWord(const Source &From, uint64_t Start, uint64_t Count, const void *To,
               uint64_t (*Cut)(uint64_t Byte, const void *), const void *Context) {
  for (uint64_t I = 0; I <= Count; ++I) {
    Operand Byte = From.isKnown(Start + I) ? From.operand(Start + I) : constant(0);
    Label L = mapThroughTable(Byte, 8, Cut, Context).label;
    if (!L && I < Count)
      L = Byte.label;
    const uint8_t Stored = ((const uint8_t *)To)[I];
    storeLabel((uint64_t)To + I, 1, live(L, Stored));
  }
}

} // namespace sf
