// The bytes that a function reads its text from: memory, or the input's file.
#ifndef SYMFLEET_RUNTIME_SOURCE_H
#define SYMFLEET_RUNTIME_SOURCE_H

#include "number.h"
#include "shadow.h"

#include <stdio.h>

namespace sf {

class Source {
public:
  static constexpr uint64_t FileBytesMax = 1024;

  // A string: its NUL is the end of it.
  static Source string(const char *S);
  // Size bytes of memory.
  static Source memory(const void *At, uint64_t Size);
  // The input's bytes from Offset; Room holds FileBytesMax of them.
  static Source file(int Fd, uint64_t Offset, uint8_t *Room);

  // Whether there is a byte to be read. At the end of a string there is its NUL.
  bool has(uint64_t I) const { return I < Size && !(EndsInNul && Bytes[I] == 0); }
  // Whether operand(I) is one: at the end of a string it is the NUL.
  bool isKnown(uint64_t I) const { return I < Size; }
  uint8_t byte(uint64_t I) const { return Bytes[I]; }
  Operand operand(uint64_t I) const {
    return FromFile ? inputBytes(Offset + I, 8, Bytes[I]) : byteAt(Bytes + I);
  }
  bool endsInNul() const { return EndsInNul; }
  bool isFile() const { return FromFile; }
  uint64_t size() const { return Size; }
  uint64_t offset() const { return Offset; }

  // The text from I on, of at most Width bytes.
  Text from(uint64_t I, uint64_t Width) const;

private:
  const uint8_t *Bytes = nullptr;
  uint64_t Size = 0, Offset = 0;
  bool EndsInNul = false, FromFile = false;
};

// How many bytes of space are at Start; what says so is recorded. Follows the
// place: each event has an ordinal of its own.
uint64_t skipSpace(const Source &From, uint64_t Start, Place &At);

// Whether a byte is a member of a set. One that depends on too much to say so is
// made concrete.
Operand memberBit(Operand Byte, uint64_t (*Has)(uint64_t Byte, const void *), const void *Context,
                  Place At);

// The end of something is a fact for what comes later, and another end a goal.
void recordShape(Operand Condition, Place &At);

// The labels of a word's copy at To: Count bytes of the source from Start and the
// NUL behind them. Cut gives 0 for bytes at which the word would have ended.
void labelWord(const Source &From, uint64_t Start, uint64_t Count, const void *To,
               uint64_t (*Cut)(uint64_t Byte, const void *), const void *Context);

} // namespace sf

#endif
