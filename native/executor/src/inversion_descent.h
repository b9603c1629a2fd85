// One attempt of the inversion (inversion.h).
//
// How a wanted value goes through one row to its operands: inversion_arithmetic.cpp
// for rows of integers, inversion_numbers.cpp for floating-point ones and for texts,
// inversion_descent.cpp for all others and for the bytes of the input.
#pragma once

#include "float_semantics.h"
#include "query.h"
#include "semantics.h"

#include <map>

namespace sf {

/// One attempt: wanted values on their way from the goal to the input.
class Descent {
public:
  /// Starts at the recorded input, or at what `changed` assumes.
  Descent(const Trace &recorded, unsigned number, Evaluator *changed = nullptr,
          Assignment pinned = {})
      : trace(recorded), choices(number), from(changed), bytes(std::move(pinned)),
        settled(bytes.size(), 0xff) {}

  /// Answers false when this way is barred.
  bool run(const Condition &goal);
  /// Tell whether higher numbers would repeat choices already made.
  bool exhausted() const { return choices > 0; }
  Assignment assignment() const;
  /// With this, numbers in the input's text are only noted with their values.
  std::vector<Condition> *numbers = nullptr;

private:
  static constexpr unsigned StepsMax = 4096;

  /// A number of 80 bits whose parts are two rows of one function.
  struct Twins {
    uint32_t low, high;
    Number value;
  };

  bool push(const Condition &wanted);
  bool pushFour(const sf_row &row, Number wanted);
  bool pushText(const sf_row &row, const FourValues &values, Number wanted);
  bool wantNumber(uint32_t low, uint32_t high, Number value);
  uint64_t now(uint32_t label) { return from ? from->value(label) : trace.seed[label]; }
  bool pushBinary(const sf_row &row, uint64_t wanted);
  bool pushArithmetic(const sf_row &row, uint32_t side, uint64_t other, bool otherIsLeft,
                      uint64_t wanted);
  bool pushComparison(const sf_row &row, uint32_t side, uint64_t other, bool otherIsLeft,
                      uint64_t wanted);
  bool pushTable(const sf_row &row, uint64_t wanted);
  bool pushDivision(const sf_row &row, uint64_t wanted);
  bool pushNumber(uint32_t label, uint64_t wanted);
  bool pushCharacter(uint32_t label, uint64_t wanted);
  bool pushPrinted();
  bool setByte(ByteChange change, uint8_t bits = 0xff);
  bool setInput(const sf_row &row, uint64_t wanted, uint64_t bits = ~uint64_t(0));
  bool want(uint32_t label, uint64_t value) {
    if (value > lowBits(trace.width(label)))
      return false;
    work.push_back({label, value});
    return true;
  }
  unsigned choose(unsigned options) {
    unsigned chosen = choices % options;
    choices /= options;
    return chosen;
  }

  const Trace &trace;
  unsigned choices;
  Evaluator *from;
  std::vector<Condition> work;
  std::vector<Twins> twins;
  /// Characters wanted of printed numbers, by the first row seen of each text.
  std::map<uint32_t, std::map<unsigned, uint8_t>> printed;
  Assignment bytes;
  std::vector<uint8_t> settled; // which bits of each of them
};

} // namespace sf
