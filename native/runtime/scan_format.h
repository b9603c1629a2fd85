// What a format of sscanf() and its relatives asks for.
#ifndef SYMFLEET_RUNTIME_SCAN_FORMAT_H
#define SYMFLEET_RUNTIME_SCAN_FORMAT_H

#include "symfleet/abi.h"

#include <stdint.h>
#include <string.h>

namespace sf {

// The bytes that a conversion takes.
struct ByteSet {
  uint8_t members[256];

  bool has(uint64_t Byte) const { return members[Byte & 0xff]; }

  static ByteSet words(bool NulEnds);

  // Reads "...]" behind a '[' and returns what follows it.
  const char *parse(const char *F, bool NulEnds);

  // A member, of those that people write if there is one.
  char example() const;
};

// One part of a format.
struct Directive {
  enum Kind { End, Space, Literal, Number, Float, Word, Characters, Count, Unknown } kind;
  bool suppressed = false, allocates = false;
  uint64_t width = 0; // 0: none
  unsigned bytes = 4; // of the variable
  unsigned base = 10;
  unsigned format = SF_SINGLE; // of a float
  bool isSigned = false, skipsSpace = false;
  char literal = 0;
  ByteSet set;
};

class Format {
public:
  Format(const char *F, bool NulEnds) : F(F), NulEnds(NulEnds) {}

  // Takes the next part.
  void next(Directive &Out);

private:
  void conversion(Directive &Out);
  void length(Directive &Out);

  const char *F;
  bool NulEnds; // a string's
};

// A text that fits a format. Between fields is space, or, if they are packed,
// nothing behind a number that has all of its width.
class Example {
public:
  Example(Directive D, Format Behind, bool IsPacked);
  bool operator==(const Example &Other) const {
    return Size == Other.Size && memcmp(Text, Other.Text, Size) == 0;
  }

  static constexpr unsigned SizeMax = 64;
  char Text[SizeMax];
  unsigned Size = 0;

private:
  void add(const Directive &D, bool IsFull);
  void add(char C, uint64_t Count = 1) {
    while (Count--)
      Text[Size++] = C;
  }
};

} // namespace sf

#endif
