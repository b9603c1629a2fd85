// The text of a floating-point number.
//
// A number is one function of the text around it: digits make no branches, and a
// text for a wanted number is found by writing that number.
#ifndef SYMFLEET_RUNTIME_FLOAT_TEXT_H
#define SYMFLEET_RUNTIME_FLOAT_TEXT_H

#include "source.h"

namespace sf {

// The text as operands of eight characters each.
class FloatText {
public:
  // Reads as far as a number at Text can go when its bytes change.
  static FloatText inMemory(const char *Text);
  // The same of a source, of at most Width bytes.
  static FloatText within(const Source &From, uint64_t Start, uint64_t Width);

  Operand result(unsigned Bits, uint16_t Aux, uint64_t Value) const {
    return fourOperands(SF_OP_TEXT, Bits, Aux, Words, Widths, Value);
  }
  bool isSymbolic() const { return any() != 0; }
  Label any() const { return Words[0].label | Words[1].label | Words[2].label | Words[3].label; }
  // Whether a number of that length is within what was read.
  bool holds(uint64_t Length) const { return Length < SF_TEXT_MAX || !Full; }
  // The characters of this run, with a NUL behind them.
  void copy(char *To) const;

private:
  void join(Operand *Bytes, unsigned Count); // with room for SF_TEXT_MAX

  Operand Words[4] = {};
  uint8_t Widths[4] = {};
  bool Full = false;
};

// Whether numbers are read in this process as an SF_OP_TEXT row reads them.
bool readsNumbersAsUsual(unsigned Format);

} // namespace sf

#endif
